/** AWS's texts for conditions it refuses, each observed on Amazon's DynamoDB Local. */
import { describe, expect, test } from 'vitest'
import { parseCondition } from '../../src/expressions/condition.ts'
import { createPlaceholders } from '../../src/expressions/placeholders.ts'
import type { Value } from '../../src/values/types.ts'

const values: Record<string, Value> = {
  ':s': 'x',
  ':n': 5,
  ':m': 1,
  ':t': true,
  ':l': [],
  ':nu': null,
  ':ss': new Set(['a']),
  ':b1': Uint8Array.of(1),
  ':b2': Uint8Array.of(2, 2),
}

/** What AWS says of the text behind the name of the parameter; 'none' if it takes it. */
function refusal(text: string): string {
  const placeholders = createPlaceholders({ '#a': 'a' }, values)
  try {
    parseCondition(text, 'ConditionExpression', placeholders)
    return 'none'
  } catch (error) {
    return String(error).replace('ValidationException: Invalid ConditionExpression: ', '')
  }
}

function equalities(count: number): string {
  return Array(count).fill('a = :s').join(' OR ')
}

describe('syntax errors name the token and the text around it', () => {
  test.each([
    [' ', '<EOF>', ' '],
    ['a', '<EOF>', 'a'],
    ['a = ', '<EOF>', '= '],
    ['a == :s', '=', '== :s'],
    ['a b ', 'b', 'a b '],
    [' = a', '=', ' = a'],
    ['(a = :s', '<EOF>', ':s'],
    ['a = :s)', ')', ':s)'],
    ['()', ')', '()'],
    ['a = 1', '1', '= 1'],
    ['a = "x"', '"', '= "x'],
    ['a != :s', '!', 'a !='],
    ['a[-1] = :s', '-', '[-1'],
    ['a[01] = :s', '1', '01]'],
    ['a..b = :s', '.', '..b'],
    ['a.and = :s', 'and', '.and ='],
    ['_a = :s', '_', '_a'],
    ['é = :s', 'é', 'é ='],
    ['# = :s', '#', '# ='],
    ['a = : s', ':', '= : s'],
    ['a NOT IN (:s)', 'NOT', 'a NOT IN'],
    ['a IN ()', ')', '()'],
    ['a BETWEEN :m OR :n', 'OR', ':m OR :n'],
    ['a < b < a', '<', 'b < a'],
    ['(a = :s) = b', '=', ') = b'],
    ['a AND b', 'AND', 'a AND b'],
    ['NOT a', '<EOF>', 'a'],
    ['attribute_exists(a = b)', '=', 'a = b'],
    ['size(a).b = :n', '.', ').b'],
    [':s.a = :s', '.', ':s.a'],
    ['SET a = :s', 'SET', 'SET a'],
    ['a = :n + :n', '+', ':n + :n'],
  ])('%j', (text, token, near) => {
    expect(refusal(text)).toBe(`Syntax error; token: "${token}", near: "${near}"`)
  })

  test('an empty expression has a text of its own', () => {
    expect(refusal('')).toBe('The expression can not be empty;')
  })
})

describe('what is wrong with the text alone', () => {
  test.each([
    ['((a = :s))', 'The expression has redundant parentheses;'],
    ['NOT ((a = :s))', 'The expression has redundant parentheses;'],
    ['a = ((b))', 'The expression has redundant parentheses;'],
    ['foo(a)', 'Invalid function name; function: foo'],
    ['ATTRIBUTE_EXISTS(a)', 'Invalid function name; function: ATTRIBUTE_EXISTS'],
    [
      'if_not_exists(a, b)',
      'The function is not allowed in a condition expression; function: if_not_exists',
    ],
    ['size(a)', 'The function is not allowed to be used this way in an expression; function: size'],
    [
      'attribute_exists(a) = :t',
      'The function is not allowed to be used this way in an expression; function: attribute_exists',
    ],
    [
      'contains(a, attribute_exists(b))',
      'The function is not allowed to be used this way in an expression; function: attribute_exists',
    ],
    ['name = :s', 'Attribute name is a reserved keyword; reserved keyword: name'],
    ['a.Status = :s', 'Attribute name is a reserved keyword; reserved keyword: Status'],
    ['size = :s', 'Attribute name is a reserved keyword; reserved keyword: size'],
    ['a[2147483648] = :s', 'List index is not within the allowable range; index: [2147483648]'],
    [
      'a[99999999999999999999999] = :s',
      'List index is not within the allowable range; index: [99999999999999999999999]',
    ],
  ])('%s', (text, message) => {
    expect(refusal(text)).toBe(message)
  })
})

describe('what is wrong with the operands', () => {
  const distinct =
    'The first operand must be distinct from the remaining operands for this operator or function; operator:'
  const type = 'Incorrect operand type for operator or function; operator or function:'
  test.each([
    [
      '#x = :s',
      'An expression attribute name used in the document path is not defined; attribute name: #x',
    ],
    [
      'a = :x',
      'An expression attribute value used in expression is not defined; attribute value: :x',
    ],
    ['a = a', `${distinct} =, first operand: [a]`],
    ['#a = a', `${distinct} =, first operand: [a]`],
    ['a.b[1] IN (b, a.b[1])', `${distinct} IN, first operand: [a, b, [1]]`],
    ['a BETWEEN b AND a', `${distinct} BETWEEN, first operand: [a]`],
    ['begins_with(a, a)', `${distinct} begins_with, first operand: [a]`],
    [
      'attribute_exists(a, b)',
      'Incorrect number of operands for operator or function; operator or function: attribute_exists, number of operands: 2',
    ],
    [
      'contains(a)',
      'Incorrect number of operands for operator or function; operator or function: contains, number of operands: 1',
    ],
    [
      'attribute_exists(:s)',
      'Operator or function requires a document path; operator or function: attribute_exists',
    ],
    ['a < :t', `${type} <, operand type: BOOL`],
    [':l >= a', `${type} >=, operand type: L`],
    ['a <= :nu', `${type} <=, operand type: NULL`],
    ['a > :ss', `${type} >, operand type: SS`],
    ['begins_with(a, :n)', `${type} begins_with, operand type: N`],
    ['begins_with(a, size(b))', `${type} begins_with, operand type: N`],
    ['size(:n) > :n', `${type} size, operand type: N`],
    ['size(size(a)) > :n', `${type} size, operand type: N`],
    ['a BETWEEN :t AND :t', `${type} BETWEEN, operand type: BOOL`],
    ['attribute_type(a, :n)', `${type} attribute_type, operand type: N`],
    [
      'attribute_type(a, b)',
      `${type} attribute_type, operand type: {NS,SS,L,BS,N,M,B,BOOL,NULL,S}`,
    ],
    [
      'attribute_type(a, :s)',
      'Invalid attribute type name found; type: x, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}',
    ],
    [
      'a BETWEEN :n AND :m',
      'The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {N:5}, upper bound operand: AttributeValue: {N:1}',
    ],
    [
      'a BETWEEN :s AND :m',
      'The BETWEEN operator requires same data type for lower and upper bounds; lower bound operand: AttributeValue: {S:x}, upper bound operand: AttributeValue: {N:1}',
    ],
    [
      'a BETWEEN :b2 AND :b1',
      'The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {B:java.nio.HeapByteBuffer[pos=0 lim=2 cap=2]}, upper bound operand: AttributeValue: {B:java.nio.HeapByteBuffer[pos=0 lim=1 cap=1]}',
    ],
  ])('%s', (text, message) => {
    expect(refusal(text)).toBe(message)
  })
})

describe('of several mistakes AWS names one', () => {
  test.each([
    [
      'what the text shows before what placeholders show',
      'a = :x AND foo(a)',
      'Invalid function name; function: foo',
    ],
    ['the first in the text', 'foo(a) AND status = :s', 'Invalid function name; function: foo'],
    ['a function before its operands', 'foo(status)', 'Invalid function name; function: foo'],
    [
      'operands before their operator',
      'begins_with(:n, :x)',
      'An expression attribute value used in expression is not defined; attribute value: :x',
    ],
    [
      'depth before names',
      `a${'.a'.repeat(32)}.#x = :s`,
      'The document path has too many nesting levels; nesting levels: 34',
    ],
  ])('%s', (_, text, message) => {
    expect(refusal(text)).toBe(message)
  })
})

describe('limits', () => {
  test.each([
    [
      '4,096 bytes',
      'a = :s'.padEnd(4096),
      'a = :s'.padEnd(4097),
      'Expression size has exceeded the maximum allowed size; expression size: 4097',
    ],
    [
      '300 operators',
      equalities(150),
      equalities(151),
      'The expression contains too many operators; operator count: 301',
    ],
    [
      '300 operators, NOT included',
      `${'NOT '.repeat(299)}a = :s`,
      `${'NOT '.repeat(300)}a = :s`,
      'The expression contains too many operators; operator count: 301',
    ],
    [
      '100 operands of IN',
      `a IN (${Array(100).fill(':s').join()})`,
      `a IN (${Array(101).fill(':s').join()})`,
      'The IN operator is provided with too many operands; number of operands: 101',
    ],
    [
      'paths of 32 parts',
      `a${'.a'.repeat(31)} = :s`,
      `a${'[0]'.repeat(32)} = :s`,
      'The document path has too many nesting levels; nesting levels: 33',
    ],
  ])('%s', (_, allowed, refused, message) => {
    expect(refusal(allowed)).toBe('none')
    expect(refusal(refused)).toBe(message)
  })

  test('bytes are counted, not characters', () => {
    expect(refusal('é'.repeat(2049))).toBe(
      'Expression size has exceeded the maximum allowed size; expression size: 4098',
    )
  })
})
