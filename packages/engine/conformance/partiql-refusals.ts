/** Statements that say what cannot be done, or that say nothing. */
import { ExecuteStatementCommand } from '@aws-sdk/client-dynamodb'
import { describe } from 'vitest'
import { refuses } from './harness.ts'
import type { Target } from './target.ts'

/** On a table with the keys `pk` and `sk`, and the indexes `by-owner` and `by-time`. */
export function statementRefusals(target: Target, table: string): void {
  /** DynamoDB Local adds the place of a fault in the statement. */
  const placed = (text: string) =>
    new RegExp(`^${text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}( at \\d+:\\d+:\\d+)?$`)
  const malformed = /^Statement wasn't well formed, can't be processed: /
  const name = `"${table}"`
  const where = `WHERE pk = 'y' AND sk = 1`
  const mandatory = 'Where clause does not contain a mandatory equality on all key attributes'
  const type = "Key attribute's data type should match its data type in table's schema: Key"

  const cases: [what: string, statement: string, answer: string | RegExp][] = [
    ['a statement that ends too early', 'SELECT', malformed],
    ['a statement without FROM', `SELECT * ${name}`, malformed],
    ['a clause without a condition', `SELECT * FROM ${name} WHERE`, malformed],
    ['half of a condition', `SELECT * FROM ${name} WHERE pk = 'a' AND`, malformed],
    ['an open quote', `SELECT * FROM ${name} WHERE pk = 'a`, malformed],
    ['two statements', `SELECT * FROM ${name}; SELECT 1`, malformed],
    ['a keyword for a name', `SELECT date FROM ${name}`, malformed],
    ['an update of nothing', `UPDATE ${name} ${where}`, malformed],
    ['a word', 'hello', 'Unsupported operation: VariableReference'],

    ['an alias of a table', `SELECT * FROM ${name} t`, 'Aliasing is not supported'],
    ['an alias of an attribute', `SELECT pk AS p FROM ${name}`, 'Aliasing is not supported'],
    ['DISTINCT', `SELECT DISTINCT pk FROM ${name}`, 'Unsupported token in expression: DISTINCT'],
    ['GROUP BY', `SELECT pk FROM ${name} GROUP BY pk`, 'Unsupported clause: GROUP BY'],
    ['LIMIT', `SELECT pk FROM ${name} LIMIT 1`, placed('Unsupported clause: LIMIT')],
    [
      'SELECT VALUE',
      `SELECT VALUE pk FROM ${name}`,
      "Select projection doesn't support value or pivot keywords",
    ],
    [
      'an index that no list can have',
      `SELECT m[99999999999] FROM ${name}`,
      placed('List index is not within the allowable range; index: [99999999999]'),
    ],
    ['a sum to select', `SELECT n + 1 FROM ${name}`, placed('Unexpected path component')],
    ['a function to select', `SELECT size(n) FROM ${name}`, placed('Unexpected path component')],
    ['a value to select', `SELECT 1 FROM ${name}`, placed('Unexpected path component')],
    [
      'an attribute twice',
      `SELECT pk, pk FROM ${name}`,
      'Duplicate identifiers in select clause: pk',
    ],
    ['a name twice', `SELECT m.x, x FROM ${name}`, 'Duplicate identifiers in select clause: x'],
    [
      'a document and a part of it',
      `SELECT m, m.x FROM ${name}`,
      'Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [m, x], path two: [m]',
    ],

    [
      'an order without a condition',
      `SELECT * FROM ${name} ORDER BY sk`,
      'Must have WHERE clause in the statement when using ORDER BY clause.',
    ],
    [
      'an order without a partition',
      `SELECT * FROM ${name} WHERE sk = 1 ORDER BY sk`,
      'Must have at least one non-optional hash key condition in WHERE clause when using ORDER BY clause.',
    ],
    [
      'an order by what is no key',
      `SELECT * FROM ${name} WHERE pk = 'y' ORDER BY n`,
      'Variable reference n in ORDER BY clause must be part of the primary key',
    ],

    ['a partition key of another type', `SELECT * FROM ${name} WHERE pk = 5`, `${type} pk`],
    [
      'a sort key of another type',
      `SELECT * FROM ${name} WHERE pk = 'y' AND sk = 'a'`,
      `${type} sk`,
    ],
    [
      'an empty key',
      `SELECT * FROM ${name} WHERE pk = ''`,
      'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk',
    ],
    [
      'an unknown index',
      `SELECT * FROM ${name}."nowhere" WHERE pk = 'y'`,
      'The table does not have the specified index: nowhere',
    ],
    [
      'what a global index does not hold',
      `SELECT n FROM ${name}."by-owner" WHERE g = 'g'`,
      'One or more parameter values were invalid: Global secondary index by-owner does not project [n]',
    ],

    [
      'a condition that is none',
      `SELECT * FROM ${name} WHERE n`,
      'WHERE clause must contain an expression that resolves to a boolean',
    ],
    [
      'arithmetic in a condition',
      `SELECT * FROM ${name} WHERE n = 2 + 2`,
      'Unsupported operator in Condition Expression. Operator: +',
    ],
    [
      'LIKE',
      `SELECT * FROM ${name} WHERE s LIKE 'a%'`,
      'Unsupported operator in Condition Expression. Operator: like',
    ],
    ['an unknown function', `SELECT * FROM ${name} WHERE f(n)`, 'Unrecognized function: f'],
    [
      'a function with too few operands',
      `SELECT * FROM ${name} WHERE begins_with(n)`,
      'Incorrect number of operands for operator or function; operator or function: begins_with, number of operands: 1',
    ],
    [
      'a wrong operand of a function',
      `SELECT * FROM ${name} WHERE begins_with(s, 5)`,
      'Incorrect operand type for operator or function; operator or function: begins_with, operand type: N',
    ],
    [
      'an attribute compared with itself',
      `SELECT * FROM ${name} WHERE n = n`,
      'The first operand must be distinct from the remaining operands for this operator or function; operator: =, first operand: [n]',
    ],
    [
      'bounds in the wrong order',
      `SELECT * FROM ${name} WHERE n BETWEEN 5 AND 1`,
      'The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {N:5}, upper bound operand: AttributeValue: {N:1}',
    ],
    [
      'a choice of nothing',
      `SELECT * FROM ${name} WHERE n IN []`,
      'IN operator must have a left hand argument of type Variable Reference and right hand argument of type Seq with at least one member',
    ],
    [
      'a parameter that is not given',
      `SELECT * FROM ${name} WHERE pk = ?`,
      "Number of parameters in request and statement don't match.",
    ],
    [
      'EXISTS outside of a transaction',
      `EXISTS(SELECT * FROM ${name} ${where} AND n = 1)`,
      'EXISTS can only be used in ExecuteTransaction write requests.',
    ],

    [
      'an item without a key',
      `INSERT INTO ${name} VALUE {'pk': 'a'}`,
      'Key attribute should be present in the item: Key sk',
    ],
    [
      'an item with a key of another type',
      `INSERT INTO ${name} VALUE {'pk': 'a', 'sk': '1'}`,
      `${type} sk`,
    ],
    [
      'an item that is no tuple',
      `INSERT INTO ${name} VALUE 5`,
      placed(
        'Unsupported format in item expression. Please use struct format {...} to express item values for insert statement.',
      ),
    ],
    [
      'an attribute in double quotes',
      `INSERT INTO ${name} VALUE {"pk": 'a'}`,
      placed('Tuple keys must be of type String. Actual type: VariableReference under root'),
    ],
    [
      'an attribute given twice',
      `INSERT INTO ${name} VALUE {'pk': 'a', 'sk': 1, 'n': 1, 'n': 2}`,
      placed('Duplicate keys in tuple. Key: n under root'),
    ],
    [
      'an attribute for a value',
      `INSERT INTO ${name} VALUE {'pk': 'a', 'sk': 1, 'n': other}`,
      placed('Unsupported data type: other under key root'),
    ],
    [
      'an empty bag',
      `INSERT INTO ${name} VALUE {'pk': 'a', 'sk': 1, 'n': <<>>}`,
      /^Empty bags are not supported/,
    ],
    [
      'a bag of several types',
      `INSERT INTO ${name} VALUE {'pk': 'a', 'sk': 1, 'n': <<1, 'a'>>}`,
      /^Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags/,
    ],
    [
      'RETURNING of an insert',
      `INSERT INTO ${name} VALUE {'pk': 'a', 'sk': 1} RETURNING ALL OLD *`,
      'RETURNING is not supported in INSERT',
    ],

    ['an update of many items', `UPDATE ${name} SET n = 1`, mandatory],
    ['an update of a partition', `UPDATE ${name} SET n = 1 WHERE pk = 'y'`, mandatory],
    ['an update of a range', `UPDATE ${name} SET n = 1 WHERE pk = 'y' AND sk > 1`, mandatory],
    ['an update of either', `UPDATE ${name} SET n = 1 ${where} OR n = 1`, mandatory],
    ['a deletion of a partition', `DELETE FROM ${name} WHERE pk = 'y'`, mandatory],
    [
      'an update of two items',
      `UPDATE ${name} SET n = 1 ${where} AND sk = 2`,
      'Multiple conditions on same key sk. Only single item Update/Insert/Delete are supported',
    ],
    [
      'an update of a key',
      `UPDATE ${name} SET pk = 'x' ${where}`,
      'One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key',
    ],
    [
      'an update of one path twice',
      `UPDATE ${name} SET n = 1, n = 2 ${where}`,
      'Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [n], path two: [n]',
    ],
    [
      'an update through an index',
      `UPDATE ${name}."by-owner" SET n = 1 ${where}`,
      'This operation is not supported on an index',
    ],
    [
      'a set made of another one',
      `UPDATE ${name} SET a = set_add(b, <<1>>) ${where}`,
      'The first argument to SET_ADD must equal the assignment value',
    ],
    [
      'some attributes to be returned',
      `UPDATE ${name} SET n = 1 ${where} RETURNING ALL OLD n`,
      "Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause",
    ],
    [
      'the new item of a deletion',
      `DELETE FROM ${name} ${where} RETURNING ALL NEW *`,
      'Invalid returning clause: RETURNING ALL NEW *. Only RETURNING ALL OLD * is allowed in DELETE statements.',
    ],
  ]

  describe('a statement', () => {
    refuses(
      target,
      ExecuteStatementCommand,
      {},
      cases.map(([what, Statement, answer]) => [what, { Statement }, answer]),
    )
    refuses(target, ExecuteStatementCommand, { Statement: `SELECT * FROM ${name}` }, [
      [
        'a Limit of zero',
        { Limit: 0 },
        "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
      ],
      [
        'a consistent read of a global index',
        { Statement: `SELECT * FROM ${name}."by-owner"`, ConsistentRead: true },
        'Consistent reads are not supported on global secondary indexes',
      ],
      [
        'a statement of more than 8 KB',
        { Statement: 'x'.repeat(8193) },
        /^1 validation error detected: Value 'x.*' at 'statement' failed to satisfy constraint: Member must have length less than or equal to 8192$/,
        'parameter-texts',
      ],
    ])
  })
}
