import { parseAst } from 'rolldown/parseAst'

/** One small change of a source text: what stands from `start` to `end` becomes `text`. */
export interface Change {
  start: number
  end: number
  text: string
}

interface Node {
  type: string
  start: number
  end: number
  [key: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Partial<Node>).type === 'string'

/** The nodes right below one, in the order of the text. */
function below(node: Node): Node[] {
  return Object.values(node)
    .flat()
    .filter(isNode)
    .sort((one, other) => one.start - other.start)
}

const swapped: Readonly<Record<string, readonly string[]>> = {
  '===': ['!=='],
  '!==': ['==='],
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '&&': ['||'],
  '||': ['&&'],
}

const otherMethod: Readonly<Record<string, string>> = {
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
  startsWith: 'endsWith',
}

/** Calls that are left out: what they are called on stays. */
const passedOver = new Set([
  'filter',
  'sort',
  'toSorted',
  'reverse',
  'slice',
  'trim',
  'toLowerCase',
  'toUpperCase',
])

/** Properties whose text says what becomes of an order. */
const saysWhat = new Set(['to', 'becomes', 'kind', 'state', 'reason'])

/** One more of so many is nothing that anybody could see: twice as many is. */
const aLot = 1000

/** What only tells a person, and decides nothing. */
const telling = /^(await )?(this\.#event|this\.#tell|this\.#stopped|\w*\.?on[A-Z]\w*\?*\.?)\(/

/** What a constructor keeps. */
const keeping = /^this\.#\w+ = [\w.]+$/

const sql = /\b(SELECT|UPDATE|INSERT|DELETE|WHERE)\b/

/** The changes that can be made to one node, alone. */
function changesOf(node: Node, source: string, parent: Node | undefined): Change[] {
  const text = (part: unknown): string => (isNode(part) ? source.slice(part.start, part.end) : '')
  const whole = (changed: string): Change => ({ start: node.start, end: node.end, text: changed })
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression': {
      const { left, right } = node
      const operator = String(node['operator'])
      if (operator === '??') return [whole(text(right))]
      return (swapped[operator] ?? []).map((other) => whole(`${text(left)} ${other} ${text(right)}`))
    }
    case 'UnaryExpression':
      return node['operator'] === '!' ? [whole(text(node['argument']))] : []
    case 'Literal':
      return literal(node, parent).map(whole)
    case 'ArrayExpression': {
      const elements = (node['elements'] as unknown[]).filter(isNode)
      if (!elements.every((each) => typeof each['value'] === 'string')) return []
      return elements.map((each) =>
        whole(
          `[${elements
            .filter((other) => other !== each)
            .map(text)
            .join(', ')}]`,
        ),
      )
    }
    case 'CallExpression':
      return call(node, source).map(whole)
    case 'TemplateLiteral':
      return sql.test(text(node)) ? statements(text(node)).map(whole) : []
    default:
      return []
  }
}

function literal(node: Node, parent: Node | undefined): string[] {
  const { value } = node
  if (typeof value === 'boolean') return [String(!value)]
  if (typeof value === 'number') return [String(value < aLot ? value + 1 : value * 2)]
  if (typeof value !== 'string') return []
  if (sql.test(value)) {
    const raw = String(node['raw'])
    return statements(raw.slice(1, -1)).map((changed) => raw.slice(0, 1) + changed + raw.slice(-1))
  }
  const key = parent?.type === 'Property' ? parent['key'] : undefined
  return isNode(key) && saysWhat.has(String(key['name'])) && !value.includes(' ') ? [`'mutant'`] : []
}

function call({ callee, arguments: given }: Node, source: string): string[] {
  if (!isNode(callee) || callee.type !== 'MemberExpression' || callee['computed'] === true) return []
  const { object, property } = callee
  if (!isNode(object) || !isNode(property)) return []
  const name = String(property['name'])
  const on = source.slice(object.start, object.end)
  if (passedOver.has(name)) return [on]
  const other = Object.hasOwn(otherMethod, name) ? otherMethod[name] : undefined
  const list = (given as Node[]).map((each) => source.slice(each.start, each.end)).join(', ')
  return other === undefined ? [] : [`${on}.${other}(${list})`]
}

/** A statement of SQL without one of its conditions, without its order, or with a condition turned round. */
function statements(text: string): string[] {
  const found: string[] = []
  const cut = (at: number, length: number, by = ''): void => {
    found.push(text.slice(0, at) + by + text.slice(at + length))
  }
  for (const { 0: clause, index } of text.matchAll(
    /\s+AND (?!b\.id <)(?:NOT )?(?:[^\s()$`]+|\$\{[^}]*\}|\((?:[^()]|\([^()]*\))*\)|(?! AND | ORDER | LIMIT )[ ])+/g,
  )) {
    cut(index, clause.length)
  }
  for (const { 0: order, index } of text.matchAll(/\s+ORDER BY [\w., ]+(?: DESC)?/g)) {
    cut(index, order.length)
  }
  for (const { index } of text.matchAll(/ (?==) ?(= )(?=')/g)) cut(index, 3, ' <> ')
  return found
}

/**
 * The same text with all its mutants in it, numbered from `first`: `isMutant(7)` says whether the seventh is the program now.
 * What a module makes of its constants is made anew where a mutant asks for that.
 */
export function instrumented(
  source: string,
  path: string,
  first: number,
): { text: string; changes: Change[] } {
  const program = parseAst(source, { lang: 'ts' }, path) as unknown as Node
  const changes: Change[] = []
  const isTop = new Set((program['body'] as Node[]).flatMap((each) => topConstant(each) ?? []))
  const number = (change: Change): number => first + changes.push(change) - 1

  /** The text of a node with the mutants of all that is below it. */
  function inner(node: Node): string {
    let text = ''
    let at = node.start
    for (const child of below(node)) {
      if (child.start < at) continue
      text += source.slice(at, child.start) + outer(child, node)
      at = child.end
    }
    return text + source.slice(at, node.end)
  }

  function outer(node: Node, parent: Node): string {
    if (node.type.startsWith('TS') && !/^TS(As|NonNull|Satisfies)/.test(node.type)) {
      return source.slice(node.start, node.end)
    }
    if (isNoExpression(node, parent)) return source.slice(node.start, node.end)
    if (isTop.has(node)) return constant(node)
    const own = onSpine(node, parent) ? [] : changesOf(node, source, parent)
    const numbers = own.map(number)
    if (isTest(node, parent)) {
      for (const text of ['true', 'false']) {
        own.push({ start: node.start, end: node.end, text })
        numbers.push(number({ start: node.start, end: node.end, text }))
      }
    }
    if (node.type === 'ExpressionStatement' && !isLeft(source.slice(node.start, node.end))) {
      return removable(node, parent)
    }
    const text = inner(node)
    if (node.type === 'ExpressionStatement') return isInList(parent) ? `;${text}` : text
    if (own.length === 0) return text
    const choices = own.map((change, at) => `isMutant(${numbers[at]}) ? (${change.text}) : `)
    return `(${choices.join('')}${text})`
  }

  /** Without it the statement is not there. */
  function removable(node: Node, parent: Node): string {
    const gone = number({ start: node.start, end: node.end, text: '' })
    const expression = node['expression'] as Node
    const text = `(isMutant(${gone}) ? undefined : (${outer(expression, node)}))`
    return isInList(parent) ? `;${text};` : text
  }

  /** A constant of the module, which can be made anew. */
  function constant(node: Node): string {
    const [declarator] = node['declarations'] as Node[]
    const { id, init } = declarator as unknown as { id: Node & { name: string }; init: Node }
    const from = first + changes.length
    const made = outer(init, declarator as Node)
    const range = `{ from: ${from}, to: ${first + changes.length} }`
    const type = source.slice(id.start, id.end)
    return `let ${type} = ${made}\n;makeAnew(() => { ${id.name} = ${made} }, () => ${id.name}, ${range})\n`
  }

  return { text: inner({ ...program, start: 0, end: source.length }), changes }
}

const isLeft = (text: string): boolean => telling.test(text) || keeping.test(text)

/** `const NAME = …` at the top of a module, unless it is a function, a pattern, or holds what the program has done. */
function topConstant(statement: Node): Node | undefined {
  const { declaration } = statement
  const found = statement.type === 'ExportNamedDeclaration' && isNode(declaration) ? declaration : statement
  if (found.type !== 'VariableDeclaration' || found['kind'] !== 'const') return undefined
  const [declarator, ...more] = found['declarations'] as Node[]
  const [id, init] = [declarator?.['id'], declarator?.['init']]
  if (more.length > 0 || !isNode(init) || !isNode(id) || id.type !== 'Identifier') return undefined
  return /Function/.test(init.type) || (init.type === 'NewExpression' && !isSetOfTexts(init))
    ? undefined
    : found
}

function isSetOfTexts({ callee, arguments: [first] = [] }: Node & { arguments?: Node[] }): boolean {
  return isNode(callee) && callee['name'] === 'Set' && first?.type === 'ArrayExpression'
}

/** Part of a chain `a?.b.c()`, which is one expression as a whole. */
function onSpine(node: Node, parent: Node): boolean {
  const isLink = parent.type === 'MemberExpression' ? parent['object'] === node : parent['callee'] === node
  return parent.type === 'ChainExpression' || (isLink && /Member|Call/.test(node.type) && hasOptional(node))
}

function hasOptional(node: Node): boolean {
  if (node['optional'] === true) return true
  const next = node['object'] ?? node['callee']
  return isNode(next) && hasOptional(next)
}

/** Keys, names and patterns. */
function isNoExpression(node: Node, parent: Node): boolean {
  if (/^(Import|Export(All|Specifier))|Pattern$/.test(node.type) && node.type !== 'ImportExpression')
    return true
  if (/^(Import|ExportAll|ExportSpecifier)/.test(parent.type) && parent.type !== 'ImportExpression')
    return true
  if (parent.type === 'ExportNamedDeclaration' && parent['source'] === node) return true
  const isKey = parent['key'] === node && parent['computed'] !== true
  return isKey && /Property|MethodDefinition/.test(parent.type)
}

const isTest = (node: Node, parent: Node): boolean =>
  /^(IfStatement|ConditionalExpression)$/.test(parent.type) && parent['test'] === node

const isInList = ({ type }: Node): boolean =>
  /^(BlockStatement|FunctionBody|Program|SwitchCase|StaticBlock)$/.test(type)
