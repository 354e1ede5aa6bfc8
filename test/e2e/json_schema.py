"""JSON Schema, as far as the API's document uses it. A schema is compiled into a function that returns what is wrong
with a value, or None; a keyword that is not known here is an error, so that nothing goes unchecked."""

import re

_ANNOTATIONS = {"description", "format", "contentMediaType"}
_TYPES = {"string": str, "boolean": bool, "object": dict, "array": list, "null": type(None)}
# Of a long list the ends are checked: its items are made by one function.
_HEAD, _TAIL = 20, 5


def compile_schema(schema, document):
    """The check of a schema; `document` is what `$ref` points into."""
    checks = [_KEYWORDS[name](value, schema, document) for name, value in schema.items() if name not in _ANNOTATIONS]
    checks = [check for check in checks if check]
    if len(checks) == 1:
        return checks[0]

    def check_all(value):
        for check in checks:
            wrong = check(value)
            if wrong:
                return wrong
        return None
    return check_all


def resolve(reference, document):
    for name in reference.removeprefix("#/").split("/"):
        document = document[name]
    return document


def _is(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, _TYPES[name])


def _same(value, other):
    return type(value) is type(other) and value == other


def _ref(reference, _, document):
    made = document.setdefault("x-compiled", {})
    if reference not in made:
        made[reference] = lambda value: made[reference](value)  # for a schema that refers to itself
        made[reference] = compile_schema(resolve(reference, document), document)
    return made[reference]


def _type(names, *_):
    names = [names] if isinstance(names, str) else names
    if all(name in _TYPES for name in names):  # the usual case, without a loop
        classes = tuple(_TYPES[name] for name in names)
        return lambda value: None if isinstance(value, classes) else f"is no {' or '.join(names)}: {value!r:.80}"
    return lambda value: None if any(_is(value, name) for name in names) else f"is no {' or '.join(names)}: {value!r:.80}"


def _const(wanted, *_):
    return lambda value: None if _same(value, wanted) else f"is not {wanted!r}: {value!r:.80}"


def _enum(wanted, *_):
    return lambda value: None if any(_same(value, each) for each in wanted) else f"is none of {wanted}: {value!r:.80}"


def _pattern(pattern, *_):
    search = re.compile(pattern).search
    return lambda value: None if not isinstance(value, str) or search(value) else f"does not match {pattern}: {value!r:.80}"


def _minimum(least, *_):
    return lambda value: f"is below {least}: {value}" if _is(value, "number") and value < least else None


def _lengths(name, limit, exceeds):
    return lambda value: f"has {len(value)} items, {name} is {limit}" if isinstance(value, list) and exceeds(len(value)) else None


def _properties(schemas, schema, document):
    checks = {name: compile_schema(each, document) for name, each in schemas.items()}
    required = schema.get("required", [])
    closed = schema.get("additionalProperties", True) is False

    def check(value):
        if not isinstance(value, dict):
            return None
        for name in required:
            if name not in value:
                return f"has no {name}"
        for name, member in value.items():
            known = checks.get(name)
            if known:
                wrong = known(member)
                if wrong:
                    return f"{name}: {wrong}"
            elif closed:
                return f"has an undocumented member {name}"
        return None
    return check


def _items(schema, _, document):
    check = compile_schema(schema, document)

    def check_items(value):
        if not isinstance(value, list):
            return None
        chosen = value if len(value) <= _HEAD + _TAIL else value[:_HEAD] + value[-_TAIL:]
        for item in chosen:
            wrong = check(item)
            if wrong:
                return f"item: {wrong}"
        return None
    return check_items


def _one_of(schemas, _, document, just_one=True):
    checks = [compile_schema(each, document) for each in schemas]

    def check(value):
        wrong = [each(value) for each in checks]
        fitting = wrong.count(None)
        if fitting == 1 or fitting and not just_one:
            return None
        # The complaint of the one that it was meant to be: the one that is not about what tells them apart.
        told = [each for each in wrong if each and "code: " not in each and "event: " not in each] or wrong
        return f"fits {fitting} of {len(checks)}: {told[0]}"
    return check


_KEYWORDS = {
    "$ref": _ref, "type": _type, "const": _const, "enum": _enum, "pattern": _pattern, "minimum": _minimum,
    "properties": _properties, "required": lambda *_: None, "additionalProperties": lambda *_: None, "items": _items,
    "oneOf": _one_of, "anyOf": lambda *all_of: _one_of(*all_of, just_one=False),
    "minItems": lambda least, *_: _lengths("minItems", least, lambda count: count < least),
    "maxItems": lambda most, *_: _lengths("maxItems", most, lambda count: count > most),
}
