/**
 * The shapes of requests: member names, types and constraints as AWS's service model states them.
 *
 * Shapes do not cover attribute values, which `operations/form.ts` reads, because they differ between the
 * wire and the in-process face. Members are in the order in which AWS reports their errors.
 */

interface Length {
  min?: number
  max?: number
}

interface StringShape extends Length {
  kind: 'string'
  enum?: readonly string[]
  pattern?: string
  /** The member is a table name, which can also be an ARN. */
  arn?: true
  /** AWS reports both the pattern and the length for an empty text. */
  matchesEmpty?: true
  /** AWS's newer text for an empty text or an unknown name, if no required member is missing. */
  newerText?: string
}

interface IntegerShape {
  kind: 'integer'
  javaType: 'Integer' | 'Long'
  min?: number
  max?: number
}

interface BooleanShape {
  kind: 'boolean'
}

interface ListShape extends Length {
  kind: 'list'
  of: Shape
}

export interface MapShape extends Length {
  kind: 'map'
  of: Shape
  keys?: Length & { pattern?: string; arn?: true }
  values?: Length
}

export interface StructureShape {
  kind: 'structure'
  /** The name that AWS prints in messages that contain a value. */
  name: string
  members: ReadonlyMap<string, Shape>
  required: readonly string[]
  /** Members that AWS reports alone, if no required one is missing. */
  first: readonly string[]
}

/** An attribute value, or a map or list of them, whose content is not checked here. */
interface AttributeShape {
  kind: 'attribute' | 'attributes'
}

export type Shape =
  | StringShape
  | IntegerShape
  | BooleanShape
  | ListShape
  | MapShape
  | StructureShape
  | AttributeShape

export const string = (rules: Omit<StringShape, 'kind'> = {}): StringShape => ({
  kind: 'string',
  ...rules,
})

export const oneOf = (...names: string[]): StringShape => ({ kind: 'string', enum: names })

export const integer = (rules: { min?: number; max?: number } = {}): IntegerShape => ({
  kind: 'integer',
  javaType: 'Integer',
  ...rules,
})

export const long = (rules: { min?: number; max?: number } = {}): IntegerShape => ({
  kind: 'integer',
  javaType: 'Long',
  ...rules,
})

/** Epoch seconds, possibly with a fraction. */
export const timestamp = long()

export const boolean: BooleanShape = { kind: 'boolean' }

export const list = (of: Shape, rules: Length = {}): ListShape => ({ kind: 'list', of, ...rules })

export const map = (of: Shape, rules: Omit<MapShape, 'kind' | 'of'> = {}): MapShape => ({
  kind: 'map',
  of,
  ...rules,
})

/** A member whose name ends in `!` is required. */
export function structure(
  name: string,
  members: Record<string, Shape>,
  first: readonly string[] = [],
): StructureShape {
  const named = new Map<string, Shape>()
  const required: string[] = []
  for (const [key, shape] of Object.entries(members)) {
    const bare = key.endsWith('!') ? key.slice(0, -1) : key
    if (bare !== key) required.push(bare)
    named.set(bare, shape)
  }
  return { kind: 'structure', name, members: named, required, first }
}

/** A map of attribute values: an item, a key, expression values. */
export const attributes: AttributeShape = { kind: 'attributes' }
export const attribute: AttributeShape = { kind: 'attribute' }

const NAME = '[a-zA-Z0-9_.-]+'

/** The name of a table to create. */
export const newTableName = string({ pattern: NAME, min: 3, max: 255 })
/** The name or ARN of a table in other requests, see `names.ts`. */
export const tableName = string({ pattern: NAME, min: 1, max: 255, arn: true })
/** The table of PutItem, UpdateItem and DeleteItem. */
export const tableNameOfWrite = string({
  ...tableName,
  newerText:
    "Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1",
})
export const indexName = string({ pattern: NAME, min: 3, max: 255, matchesEmpty: true })
export const tableNames = { pattern: NAME, max: 255, min: 1, arn: true } as const

export const returnConsumedCapacity = oneOf('INDEXES', 'TOTAL', 'NONE')
export const returnItemCollectionMetrics = oneOf('SIZE', 'NONE')
export const returnOnFailure = oneOf('ALL_OLD', 'NONE')
export const expressionNames = map(string())

const comparisonOperator = oneOf(
  'IN',
  'NULL',
  'BETWEEN',
  'LT',
  'NOT_CONTAINS',
  'EQ',
  'GT',
  'NOT_NULL',
  'NE',
  'LE',
  'BEGINS_WITH',
  'GE',
  'CONTAINS',
)

/** Legacy members, replaced by expressions. */
export const legacy = {
  AttributesToGet: list(string(), { min: 1, max: 255 }),
  ConditionalOperator: oneOf('OR', 'AND'),
  Expected: map(
    structure('ExpectedAttributeValue', {
      AttributeValueList: list(attribute),
      ComparisonOperator: comparisonOperator,
      Exists: boolean,
      Value: attribute,
    }),
  ),
  Conditions: map(
    structure('Condition', {
      AttributeValueList: list(attribute),
      'ComparisonOperator!': comparisonOperator,
    }),
  ),
  AttributeUpdates: map(
    structure('AttributeValueUpdate', { Action: oneOf('ADD', 'DELETE', 'PUT'), Value: attribute }),
  ),
}
