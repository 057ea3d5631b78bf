/**
 * UpdateTable: billing, protection, the stream, and one index created or deleted at a time. A new index is filled
 * in the background; until then it cannot be read.
 */
import type {
  AttributeDefinition,
  GlobalSecondaryIndex,
  TableDescription,
  UpdateTableInput,
} from '../db.ts'
import { limitExceeded, resourceInUse, resourceNotFound, validationError } from '../errors.ts'
import type { IndexRecord, NewIndex, TableRecord } from '../storage/store.ts'
import { namedTable } from '../validation/names.ts'
import { boolean, indexName, list, structure, tableName } from '../validation/shapes.ts'
import {
  attributeDefinitions,
  billingMode,
  provisionedThroughput,
  secondaryIndex,
  streamSpecification,
  tableClass,
} from '../validation/table-shapes.ts'
import { checkIndex, checkIndexLimits, checkThroughput } from '../validation/table-definition.ts'
import { describeTable, detailsOf, type TableDetails } from './describe.ts'
import type { Operation } from './operation.ts'
import { changedLogs, checkStreamUpdate } from './stream-specification.ts'

type IndexUpdates = NonNullable<UpdateTableInput['GlobalSecondaryIndexUpdates']>

export const updateTable: Operation<UpdateTableInput, { TableDescription?: TableDescription }> = {
  name: 'UpdateTable',
  input: structure('UpdateTableInput', {
    AttributeDefinitions: attributeDefinitions,
    'TableName!': tableName,
    BillingMode: billingMode,
    ProvisionedThroughput: provisionedThroughput,
    GlobalSecondaryIndexUpdates: list(
      structure('GlobalSecondaryIndexUpdate', {
        Update: structure('UpdateGlobalSecondaryIndexAction', {
          'IndexName!': indexName,
          ProvisionedThroughput: provisionedThroughput,
        }),
        Create: structure('CreateGlobalSecondaryIndexAction', {
          ...secondaryIndex,
          ProvisionedThroughput: provisionedThroughput,
        }),
        Delete: structure('DeleteGlobalSecondaryIndexAction', { 'IndexName!': indexName }),
      }),
    ),
    StreamSpecification: streamSpecification,
    TableClass: tableClass,
    DeletionProtectionEnabled: boolean,
  }),

  async run(context, input) {
    const updates = input.GlobalSecondaryIndexUpdates ?? []
    checkSomethingToDo(input, updates)
    checkUpdates(updates)
    checkStreamUpdate(input)
    const table = namedTable(context.storage, input.TableName)
    const { storage, clock } = context

    const details = changedDetails(input, detailsOf(table), clock.now())
    const indexes = changedIndexes(table, updates, input.AttributeDefinitions ?? [], details)
    details.definitions = usedDefinitions(table, indexes, [
      ...detailsOf(table).definitions,
      ...(input.AttributeDefinitions ?? []),
    ])
    const logs = changedLogs(table, input.StreamSpecification)
    const changed = await storage.replaceTable({ ...table, indexes, logs, details: { ...details } })
    return { TableDescription: describeTable(context, changed) }
  },
}

function checkSomethingToDo(input: UpdateTableInput, updates: IndexUpdates): void {
  const nothing =
    updates.length === 0 &&
    !input.ProvisionedThroughput &&
    !input.BillingMode &&
    !input.TableClass &&
    !input.StreamSpecification &&
    typeof input.DeletionProtectionEnabled !== 'boolean'
  if (nothing) {
    throw validationError(
      'At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required',
    )
  }
}

function checkUpdates(updates: IndexUpdates): void {
  const names = new Set<string>()
  for (const { Update, Create, Delete } of updates) {
    const name = (Update ?? Create ?? Delete)?.IndexName
    if (name === undefined) {
      throw invalid(
        'One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null',
      )
    }
    if (names.has(name)) {
      throw invalid(
        `Only one global secondary index update per index is allowed simultaneously. Index: ${name}`,
      )
    }
    names.add(name)
  }
  if (updates.filter(({ Create, Delete }) => Create ?? Delete).length > 1) throw onlyOneIndex()
}

function changedDetails(input: UpdateTableInput, old: TableDetails, now: number): TableDetails {
  const details = { ...old }
  const billing = input.BillingMode ?? old.billingMode
  if (input.BillingMode ?? input.ProvisionedThroughput) {
    const throughput = input.ProvisionedThroughput ?? undefined
    if (billing === 'PROVISIONED' && !throughput) {
      throw invalid('ProvisionedThroughput must be specified when BillingMode is PROVISIONED')
    }
    checkThroughput(billing, throughput)
    if (throughput && sameThroughput(throughput, old.throughput)) {
      throw validationError(
        `The provisioned throughput for the table will not change. The requested value equals the current value. Current ReadCapacityUnits provisioned for the table: ${throughput.ReadCapacityUnits}. Requested ReadCapacityUnits: ${throughput.ReadCapacityUnits}. Current WriteCapacityUnits provisioned for the table: ${throughput.WriteCapacityUnits}. Requested WriteCapacityUnits: ${throughput.WriteCapacityUnits}. Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.`,
      )
    }
    if (throughput) details.throughput = throughput
    else delete details.throughput
    if (billing === 'PAY_PER_REQUEST' && old.billingMode !== billing) details.onDemandSince = now
    details.billingMode = billing
  }
  if (typeof input.DeletionProtectionEnabled === 'boolean') {
    details.deletionProtection = input.DeletionProtectionEnabled
  }
  if (input.TableClass) details.tableClass = input.TableClass
  return details
}

function sameThroughput(
  left: NonNullable<TableDetails['throughput']>,
  right: TableDetails['throughput'],
): boolean {
  return (
    left.ReadCapacityUnits === right?.ReadCapacityUnits &&
    left.WriteCapacityUnits === right.WriteCapacityUnits
  )
}

function changedIndexes(
  table: TableRecord,
  updates: IndexUpdates,
  given: readonly AttributeDefinition[],
  details: TableDetails,
): (IndexRecord | NewIndex)[] {
  let indexes: (IndexRecord | NewIndex)[] = [...table.indexes]
  for (const { Create, Update, Delete } of updates) {
    if (Create) indexes.push(newIndex(table, Create, [...details.definitions, ...given], details))
    else {
      const name = (Update ?? Delete)?.IndexName
      const index = table.indexes.find((candidate) => candidate.name === name)
      if (!index) throw resourceNotFound()
      if (index.status === 'CREATING') {
        throw resourceInUse(
          'Attempt to change a resource which is still in use: Index is being created.',
        )
      }
      if (Delete) indexes = indexes.filter((candidate) => candidate !== index)
      else if (Update?.ProvisionedThroughput) {
        const changed = { ...index, details: { throughput: Update.ProvisionedThroughput } }
        indexes = indexes.map((candidate) => (candidate === index ? changed : candidate))
      }
    }
  }
  checkIndexLimits(indexes)
  return indexes
}

function newIndex(
  table: TableRecord,
  create: GlobalSecondaryIndex,
  definitions: readonly AttributeDefinition[],
  details: TableDetails,
): NewIndex {
  const types = new Map<string, string>()
  for (const { AttributeName: name, AttributeType: type } of definitions) {
    if ((types.get(name) ?? type) !== type) {
      throw invalid(`Attribute ${name} is already defined with another type`)
    }
    types.set(name, type)
  }
  const index = checkIndex(create, unique(definitions), details.billingMode)
  if (table.indexes.some((candidate) => candidate.name === index.name)) {
    throw validationError('Attempting to create an index which already exists')
  }
  if (table.indexes.some((candidate) => candidate.status === 'CREATING')) throw onlyOneIndex()
  return index
}

function unique(definitions: readonly AttributeDefinition[]): AttributeDefinition[] {
  return [...new Map(definitions.map((each) => [each.AttributeName, each])).values()]
}

/** Definitions come and go with the keys they belong to. */
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
