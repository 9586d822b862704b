import { encodeUtf16, type Vector } from './vector.ts'

const ann = ['Ann', '+61412345678']

/** JSON as programs and people write it. Columns have the order in which their names first occur. */
export const json: Vector[] = [
  {
    file: 'array.json',
    description: 'an array, printed over several lines',
    bytes: () =>
      Buffer.from('[\n  {\n    "name": "Ann",\n    "phone": "+61412345678"\n  },\n  {"phone": "007"}\n]\n'),
    table: [['name', 'phone'], ann, ['', '007']],
  },
  {
    file: 'array-on-one-line.json',
    description: 'an array on one line, with a byte order mark, without a line end',
    bytes: () => Buffer.from('\uFEFF[{"name":"Ann","phone":"+61412345678"}]'),
    table: [['name', 'phone'], ann],
  },
  {
    file: 'lines.jsonl',
    description: 'JSON Lines, LF, with an empty line',
    bytes: () => Buffer.from('{"name":"Ann","phone":"+61412345678"}\n\n{"name":"李","phone":null}\n'),
    table: [['name', 'phone'], ann, ['李', '']],
  },
  {
    file: 'lines-crlf.ndjson',
    description: 'JSON Lines, CRLF, no line end after the last row',
    bytes: () => Buffer.from('{"name":"Ann","phone":"+61412345678"}\r\n{"name":"\\u674e","phone":""}'),
    table: [['name', 'phone'], ann, ['李', '']],
  },
  {
    file: 'utf-16.json',
    description: 'an editor of Windows: UTF-16',
    bytes: () => encodeUtf16('[{"name": "Zoë", "phone": "007"}]\r\n'),
    table: [
      ['name', 'phone'],
      ['Zoë', '007'],
    ],
  },
  {
    file: 'nested.json',
    description: 'values that are no texts, with brackets and quotes within',
    bytes: () =>
      Buffer.from(
        '[{"name": "a\\"}]b", "list": ["]", {"x": 1}], "paid": true, "sum": 85000.5, "none": null}]',
      ),
    table: [
      ['name', 'list', 'paid', 'sum', 'none'],
      ['a"}]b', '["]",{"x":1}]', 'true', '85000.5', ''],
    ],
  },
  {
    file: 'single.json',
    description: 'one object is a file of one line',
    bytes: () => Buffer.from('{\n  "name": "Ann",\n  "phone": "+61412345678"\n}\n'),
    table: [['name', 'phone'], ann],
  },
  {
    file: 'called.csv',
    description: 'a file named .csv is read as CSV, even if it contains JSON',
    bytes: () => Buffer.from('{"name":"Ann"}\n'),
    refusal: 'line 1 has a quote in the middle of a cell',
  },
  {
    file: 'wrapped.json',
    description: 'an array of arrays',
    bytes: () => Buffer.from('[["name"],["Ann"]]'),
    refusal: 'line 1 has "[" where an object or ] is expected',
  },
  {
    file: 'candidates.json',
    description: 'an API that returns its list as the only field of an object',
    bytes: () => Buffer.from('{\n "candidates" : [\n  {"name": "Ann"},\n  {"name": "Bo"}\n ]\n}\n'),
    table: [['name'], ['Ann'], ['Bo']],
  },
  {
    file: 'wrapped-and-more.json',
    description: 'an API that returns another field beside its list: read as one row of two fields',
    bytes: () => Buffer.from('{"candidates":[{"name":"Ann"}],"count":1}\n'),
    table: [
      ['candidates', 'count'],
      ['[{"name":"Ann"}]', '1'],
    ],
  },
  {
    file: 'half.json',
    description: 'a download that broke off',
    bytes: () => Buffer.from('[{"name":"Ann"},\n{"name":"Bo'),
    refusal: 'the object that starts on line 2 has no end',
  },
  {
    file: 'single-quotes.json',
    description: 'what Python prints is no JSON',
    bytes: () => Buffer.from("[{'name': 'Ann'}]"),
    refusal: 'line 1: is not JSON',
  },
]
