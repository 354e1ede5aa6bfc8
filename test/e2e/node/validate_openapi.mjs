// Reads a document from standard input, and prints whether it is valid OpenAPI, of which version, and what is wrong.
import {readFileSync} from "node:fs";
import {Validator} from "@seriousme/openapi-schema-validator";

const validator = new Validator();
const {valid, errors} = await validator.validate(JSON.parse(readFileSync(0, "utf8")));
console.log(JSON.stringify({valid, version: validator.version, errors: errors ?? []}));
