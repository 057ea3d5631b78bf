/**
 * GlobalSecondaryIndexUpdates of UpdateTable: creates or deletes at most one index at a time, and changes
 * the throughput of others. Local indexes cannot be changed.
 */
import type {
  AttributeDefinition,
  GlobalSecondaryIndex,
  Throughput,
  UpdateTableInput,
} from '../db.ts'
import { limitExceeded, resourceInUse, resourceNotFound, validationError } from '../errors.ts'
import type { IndexRecord, NewIndex, TableRecord } from '../storage/storage.ts'
import { checkIndex, checkIndexLimits } from '../validation/table-definition.ts'
import { detailsOf, type TableDetails } from './describe.ts'

type IndexUpdates = NonNullable<UpdateTableInput['GlobalSecondaryIndexUpdates']>

export function checkIndexUpdates(updates: IndexUpdates | null | undefined): void {
  if (!updates) return
  if (updates.length === 0) throw invalid('List of GlobalSecondaryIndexUpdates is empty')
  const names = new Set<string>()
  for (const { Update, Create, Delete } of updates) {
    const [action, another] = [Update, Create, Delete].filter((each) => each)
    if (!action) {
      throw invalid(
        'One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null',
      )
    }
    if (another) {
      throw invalid(
        'Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object',
      )
    }
    const { IndexName: name } = action
    if (names.has(name)) {
      throw invalid(
        `Only one global secondary index update per index is allowed simultaneously. Index: ${name}`,
      )
    }
    names.add(name)
  }
  if (updates.filter(({ Create, Delete }) => Create ?? Delete).length > 1) throw onlyOneIndex()
}

/** The indexes of the table after the update; `details` has the new billing mode. */
export function changedIndexes(
  table: TableRecord,
  input: UpdateTableInput,
  details: TableDetails,
): (IndexRecord | NewIndex)[] {
  const updates = input.GlobalSecondaryIndexUpdates ?? []
  checkAllProvisioned(table, updates, details)
  let indexes: (IndexRecord | NewIndex)[] = [...table.indexes]
  for (const { Create, Update, Delete } of updates) {
    if (Create) indexes.push(newIndex(table, Create, input.AttributeDefinitions, details))
    else if (Delete) {
      const index = globalIndex(table, Delete.IndexName, 'delete')
      indexes = indexes.filter((candidate) => candidate !== index)
    } else if (Update) {
      const index = globalIndex(table, Update.IndexName, 'update')
      const changed = withThroughput(index, Update.ProvisionedThroughput, details)
      indexes = indexes.map((candidate) => (candidate === index ? changed : candidate))
    }
  }
  checkIndexLimits(indexes)
  return details.billingMode === 'PAY_PER_REQUEST' ? indexes.map(onDemand) : indexes
}

/** The indexes of a table that becomes provisioned must have throughput. */
function checkAllProvisioned(
  table: TableRecord,
  updates: IndexUpdates,
  details: TableDetails,
): void {
  const becomesProvisioned =
    details.billingMode === 'PROVISIONED' && detailsOf(table).billingMode !== 'PROVISIONED'
  if (!becomesProvisioned) return
  const given = new Set<string>()
  for (const { Update } of updates) if (Update?.ProvisionedThroughput) given.add(Update.IndexName)
  const missing = table.indexes.filter(({ kind, name }) => kind === 'global' && !given.has(name))
  if (missing.length === 0) return
  const names = missing.map(({ name }) => name).join(',')
  throw invalid(`ProvisionedThroughput must be specified for index: ${names}`)
}

function globalIndex(table: TableRecord, name: string, action: 'update' | 'delete'): IndexRecord {
  const index = table.indexes.find((candidate) => candidate.name === name)
  if (!index) {
    throw resourceNotFound(`Requested resource not found: Index ${name} for table ${table.name}`)
  }
  if (index.kind !== 'global') {
    throw validationError(
      `Cannot ${action} an index that is not a GlobalSecondaryIndex: ${index.name}`,
    )
  }
  if (index.status === 'CREATING') {
    throw resourceInUse(
      'Attempt to change a resource which is still in use: Index is being created.',
    )
  }
  return index
}

function withThroughput(
  index: IndexRecord,
  wanted: Throughput | null | undefined,
  { billingMode }: TableDetails,
): IndexRecord {
  if (!wanted) return index
  const { name } = index
  if (billingMode === 'PAY_PER_REQUEST') {
    throw invalid(
      `The only Updates for index: ${name} when TableThroughputMode is PAY_PER_REQUEST can be to OnDemandThroughput, WarmThroughput`,
    )
  }
  const { ReadCapacityUnits: reads, WriteCapacityUnits: writes } = wanted
  const current = (index.details as { throughput?: Throughput } | undefined)?.throughput
  if (current?.ReadCapacityUnits === reads && current.WriteCapacityUnits === writes) {
    throw validationError(
      `The provisioned throughput for the index ${name} will not change. The requested value equals the current value. Current ReadCapacityUnits provisioned for index ${name}: ${reads}. Requested ReadCapacityUnits: ${reads}. Current WriteCapacityUnits provisioned for index ${name}: ${writes}. Requested WriteCapacityUnits: ${writes}. Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.`,
    )
  }
  return { ...index, details: { throughput: wanted } }
}

function onDemand<Index extends NewIndex>({ details: _throughput, ...index }: Index) {
  return index
}

function newIndex(
  table: TableRecord,
  create: GlobalSecondaryIndex,
  given: readonly AttributeDefinition[] | null | undefined,
  details: TableDetails,
): NewIndex {
  const { IndexName: name, ProvisionedThroughput: throughput } = create
  if (!given || given.length === 0) {
    throw invalid(`AttributeDefinitions is not specified for index: ${name}`)
  }
  const definitions = [...details.definitions, ...given]
  const types = new Map<string, string>()
  for (const { AttributeName: attribute, AttributeType: type } of definitions) {
    if ((types.get(attribute) ?? type) !== type) {
      throw invalid(`Attribute ${attribute} is already defined with another type`)
    }
    types.set(attribute, type)
  }
  const index = checkIndex(create, unique(definitions))
  if (details.billingMode === 'PAY_PER_REQUEST' && throughput) {
    throw invalid(
      `Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: ${name} when BillingMode is PAY_PER_REQUEST`,
    )
  }
  if (details.billingMode === 'PROVISIONED' && !throughput) {
    throw invalid(
      `Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: ${name}`,
    )
  }
  if (table.indexes.some((candidate) => candidate.name === name)) {
    throw validationError('Attempting to create an index which already exists')
  }
  if (table.indexes.some((candidate) => candidate.status === 'CREATING')) throw onlyOneIndex()
  return index
}

function unique(definitions: readonly AttributeDefinition[]): AttributeDefinition[] {
  return [...new Map(definitions.map((each) => [each.AttributeName, each])).values()]
}

/** Adds definitions of new keys and removes unused ones. */
export function usedDefinitions(
  table: Pick<TableRecord, 'keys'>,
  indexes: readonly NewIndex[],
  definitions: readonly AttributeDefinition[],
): AttributeDefinition[] {
  const used = new Set<string>()
  for (const { partition, sort } of [table.keys, ...indexes.map((index) => index.keys)]) {
    used.add(partition.name)
    if (sort) used.add(sort.name)
  }
  return unique(definitions).filter((each) => used.has(each.AttributeName))
}

function invalid(reason: string): Error {
  return validationError(`One or more parameter values were invalid: ${reason}`)
}

function onlyOneIndex(): Error {
  return limitExceeded(
    'Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table',
  )
}
