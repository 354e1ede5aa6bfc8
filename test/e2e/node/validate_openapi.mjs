// Reads a document from standard input, and prints whether it is valid OpenAPI, of which version, and what is wrong.
import {json} from "node:stream/consumers";
import {Validator} from "@seriousme/openapi-schema-validator";

const validator = new Validator();
const {valid, errors} = await validator.validate(await json(process.stdin));
console.log(JSON.stringify({valid, version: validator.version, errors: errors ?? []}));
