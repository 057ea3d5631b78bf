/**
 * Checks that the keys, indexes and throughput of a table are consistent, with AWS's messages, and
 * converts them to storage's types.
 */
import type {
  AttributeDefinition,
  GlobalSecondaryIndex,
  IndexProjection,
  KeySchemaElement,
  LocalSecondaryIndex,
  Throughput,
} from '../db.ts'
import { validationError } from '../errors.ts'
import type {
  IndexProjection as Projection,
  KeySchema,
  KeyType,
  NewIndex,
} from '../storage/storage.ts'

const MAX_INDEXES = 20
const MAX_LOCAL_INDEXES = 5
const MAX_PROJECTED_ATTRIBUTES = 100
const MAX_CAPACITY_UNITS = 1_000_000_000_000

/** Throughput must be present if and only if the table is provisioned. */
export function checkThroughput(
  billing: 'PROVISIONED' | 'PAY_PER_REQUEST',
  throughput: Throughput | null | undefined,
): void {
  if (billing === 'PAY_PER_REQUEST') {
    if (!throughput) return
    throw invalid(
      'Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST',
    )
  }
  if (!throughput) {
    throw invalid(
      'ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED',
    )
  }
  checkBounds(throughput)
}

export function checkBounds(throughput: Throughput): void {
  for (const name of ['ReadCapacityUnits', 'WriteCapacityUnits'] as const) {
    if (throughput[name] > MAX_CAPACITY_UNITS) {
      throw validationError(`Given value ${throughput[name]} for ${name} is out of bounds`)
    }
  }
}

export function checkTableKeys(
  schema: readonly KeySchemaElement[],
  definitions: readonly AttributeDefinition[],
): KeySchema {
  if (schema.length > definitions.length) {
    throw validationError('Invalid KeySchema: Some index key attribute have no definition')
  }
  return readKeys(schema, definitions)
}

function readKeys(
  schema: readonly KeySchemaElement[],
  definitions: readonly AttributeDefinition[],
): KeySchema {
  const types = new Map(definitions.map((each) => [each.AttributeName, each.AttributeType]))
  const names = schema.map((element) => element.AttributeName)
  if (names.some((name) => !types.has(name))) {
    throw invalid(
      `Some index key attributes are not defined in AttributeDefinitions. Keys: [${names.join(', ')}], AttributeDefinitions: [${[...types.keys()].join(', ')}]`,
    )
  }
  const [first, second] = schema
  if (second && first?.AttributeName === second.AttributeName) {
    throw validationError(
      'Both the Hash Key and the Range Key element in the KeySchema have the same name',
    )
  }
  if (first?.KeyType !== 'HASH') {
    throw validationError('Invalid KeySchema: The first KeySchemaElement is not a HASH key type')
  }
  if (second && second.KeyType !== 'RANGE') {
    throw validationError('Invalid KeySchema: The second KeySchemaElement is not a RANGE key type')
  }
  const key = ({ AttributeName: name }: KeySchemaElement) => ({
    name,
    type: types.get(name) as KeyType,
  })
  return { partition: key(first), ...(second && { sort: key(second) }) }
}

interface Definition {
  AttributeDefinitions: AttributeDefinition[]
  LocalSecondaryIndexes?: LocalSecondaryIndex[]
  GlobalSecondaryIndexes?: GlobalSecondaryIndex[]
}

/** The indexes of a new table; local ones are checked first, as in AWS. */
export function checkIndexes(
  { AttributeDefinitions, LocalSecondaryIndexes, GlobalSecondaryIndexes }: Definition,
  keys: KeySchema,
  billing: 'PROVISIONED' | 'PAY_PER_REQUEST',
): NewIndex[] {
  const indexes: NewIndex[] = []
  const add = (index: NewIndex) => {
    if (indexes.some(({ name }) => name === index.name)) {
      throw invalid(`Duplicate index name: ${index.name}`)
    }
    indexes.push(index)
  }
  if (LocalSecondaryIndexes) {
    if (LocalSecondaryIndexes.length === 0) throw invalid('List of LocalSecondaryIndexes is empty')
    if (!keys.sort) {
      throw invalid(
        'Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex',
      )
    }
    for (const index of LocalSecondaryIndexes) {
      add(checkLocalIndex(index, AttributeDefinitions, keys))
    }
    if (LocalSecondaryIndexes.length > MAX_LOCAL_INDEXES) {
      throw invalid(
        `Number of LocalSecondaryIndexes exceeds per-table limit of ${MAX_LOCAL_INDEXES}`,
      )
    }
  }
  if (GlobalSecondaryIndexes) {
    if (GlobalSecondaryIndexes.length === 0) {
      throw invalid('List of GlobalSecondaryIndexes is empty')
    }
    for (const index of GlobalSecondaryIndexes) {
      add(checkIndex(index, AttributeDefinitions))
      checkIndexThroughput(index, billing)
    }
  }
  checkIndexLimits(indexes)
  return indexes
}

function checkLocalIndex(
  index: LocalSecondaryIndex,
  definitions: readonly AttributeDefinition[],
  table: KeySchema,
): NewIndex {
  const { IndexName: name } = index
  const keys = readKeys(index.KeySchema, definitions)
  if (!keys.sort) throw invalid(`Index KeySchema does not have a range key for index: ${name}`)
  if (keys.partition.name !== table.partition.name) {
    throw invalid(
      `Index KeySchema does not have the same leading hash key as table KeySchema for index: ${name}. index hash key: ${keys.partition.name}, table hash key: ${table.partition.name}`,
    )
  }
  return { name, kind: 'local', keys, projection: checkProjection(index.Projection) }
}

export function checkIndexLimits(indexes: readonly NewIndex[]): void {
  if (indexes.filter(({ kind }) => kind === 'global').length > MAX_INDEXES) {
    throw invalid(`GlobalSecondaryIndex count exceeds the per-table limit of ${MAX_INDEXES}`)
  }
  const projected = indexes.flatMap((index) => index.projection.attributes ?? []).length
  if (projected > MAX_PROJECTED_ATTRIBUTES) {
    throw invalid(
      `Sum of projected attributes for all secondary indexes exceeds the limit of ${MAX_PROJECTED_ATTRIBUTES}`,
    )
  }
}

export function checkIndex(
  index: GlobalSecondaryIndex,
  definitions: readonly AttributeDefinition[],
): NewIndex {
  const { IndexName: name, ProvisionedThroughput: throughput } = index
  const keys = readKeys(index.KeySchema, definitions)
  const projection = checkProjection(index.Projection)
  return {
    name,
    kind: 'global',
    keys,
    projection,
    ...(throughput && { details: { throughput } }),
  }
}

function checkIndexThroughput(
  { IndexName: name, ProvisionedThroughput: throughput }: GlobalSecondaryIndex,
  billing: 'PROVISIONED' | 'PAY_PER_REQUEST',
): void {
  if (billing === 'PAY_PER_REQUEST' && throughput) {
    throw invalid(
      `ProvisionedThroughput should not be specified for index: ${name} when BillingMode is PAY_PER_REQUEST`,
    )
  }
  if (billing === 'PROVISIONED' && !throughput) {
    throw invalid(`ProvisionedThroughput is not specified for index: ${name}`)
  }
}

function checkProjection({ ProjectionType, NonKeyAttributes }: IndexProjection): Projection {
  const type = ProjectionType ?? undefined
  const attributes = NonKeyAttributes ?? undefined
  if (type === undefined) throw invalid('Unknown ProjectionType: null')
  if (type === 'INCLUDE' && !attributes) {
    throw invalid('ProjectionType is INCLUDE, but NonKeyAttributes is not specified')
  }
  if (type !== 'INCLUDE' && attributes) {
    throw invalid(`ProjectionType is ${type}, but NonKeyAttributes is specified`)
  }
  const duplicate = duplicateOf(attributes ?? [])
  if (duplicate !== undefined) {
    throw invalid(`Duplicate element in NonKeyAttributes: ${duplicate}`)
  }
  return { type, ...(attributes && { attributes }) }
}

/** Every attribute definition must be the key of the table or of an index. */
export function checkDefinitionsUsed(
  definitions: readonly AttributeDefinition[],
  keys: KeySchema,
  indexes: readonly NewIndex[],
): void {
  const used = new Set<string>()
  for (const { partition, sort } of [...indexes.map((index) => index.keys), keys]) {
    used.add(partition.name)
    if (sort) used.add(sort.name)
  }
  const defined = definitions.map((each) => each.AttributeName)
  const duplicate = duplicateOf(defined)
  if (duplicate !== undefined) throw validationError(`Attribute Name is duplicated: ${duplicate}`)
  if (used.size === defined.length) return
  if (indexes.length === 0) {
    throw invalid(
      'Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions',
    )
  }
  throw invalid(
    `Some AttributeDefinitions are not used. AttributeDefinitions: [${defined.join(', ')}], keys used: [${[...used].join(', ')}]`,
  )
}

/** Linear, because a request may have a hundred thousand names. */
function duplicateOf(names: readonly string[]): string | undefined {
  const seen = new Set<string>()
  return names.find((name) => seen.size === seen.add(name).size)
}

function invalid(reason: string): Error {
  return validationError(`One or more parameter values were invalid: ${reason}`)
}
