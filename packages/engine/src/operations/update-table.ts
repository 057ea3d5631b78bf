/**
 * UpdateTable: changes billing, deletion protection or the stream, and creates or deletes one index at a
 * time. A new index is filled in the background and cannot be read until then.
 */
import type { TableDescription, UpdateTableInput } from '../db.ts'
import { validationError } from '../errors.ts'
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
import { checkBounds, checkThroughput } from '../validation/table-definition.ts'
import { describeTable, detailsOf, type TableDetails } from './describe.ts'
import { changedIndexes, checkIndexUpdates, usedDefinitions } from './index-updates.ts'
import type { Operation } from './operation.ts'
import { checkSecureDelete } from './secure-delete.ts'
import { changedLogs, checkStreamUpdate } from './stream-specification.ts'

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
    SecureDeleteEnabled: boolean,
  }),

  async run(context, input) {
    checkSomethingToDo(input)
    if (input.ProvisionedThroughput) checkBounds(input.ProvisionedThroughput)
    checkIndexUpdates(input.GlobalSecondaryIndexUpdates)
    checkAlone(input)
    checkStreamUpdate(input)
    const table = namedTable(context.storage, input.TableName)
    const { storage, clock } = context

    const details = changedDetails(input, detailsOf(table), clock.now())
    const indexes = changedIndexes(table, input, details)
    details.definitions = usedDefinitions(table, indexes, [
      ...details.definitions,
      ...newDefinitions(input),
    ])
    const logs = changedLogs(table, input.StreamSpecification)
    if (details.secureDelete) checkSecureDelete(logs)
    const changed = await storage.replaceTable({
      ...table,
      indexes,
      logs,
      details: { ...details },
      ...(details.secureDelete && { encrypted: true }),
    })
    return { TableDescription: describeTable(context, changed) }
  },
}

/** Definitions are ignored unless an index is created, because they may contradict the table. */
function newDefinitions({ AttributeDefinitions, GlobalSecondaryIndexUpdates }: UpdateTableInput) {
  const isNeeded = GlobalSecondaryIndexUpdates?.some(({ Create }) => Create)
  return isNeeded ? (AttributeDefinitions ?? []) : []
}

const CHANGES = [
  'ProvisionedThroughput',
  'BillingMode',
  'StreamSpecification',
  'GlobalSecondaryIndexUpdates',
  'DeletionProtectionEnabled',
  'TableClass',
  'SecureDeleteEnabled',
] as const

/** The requested changes; an empty list of index updates is not a change. */
function changesOf(input: UpdateTableInput) {
  return CHANGES.filter((name) => {
    const change = input[name] ?? undefined
    return Array.isArray(change) ? change.length > 0 : change !== undefined
  })
}

/** Parameters about AWS's infrastructure have no effect, but a request may consist of them alone. */
const WITHOUT_EFFECT = ['OnDemandThroughput', 'WarmThroughput', 'SSESpecification']

function checkSomethingToDo(input: UpdateTableInput): void {
  const given = new Map<string, unknown>(Object.entries(input))
  if (changesOf(input).length > 0 || WITHOUT_EFFECT.some((name) => given.get(name))) return
  throw validationError(
    'At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required',
  )
}

/** Rejects combinations of changes that AWS does not allow in one request. */
function checkAlone(input: UpdateTableInput): void {
  const changes = changesOf(input)
  if (changes.length === 1) return
  if (changes.includes('DeletionProtectionEnabled')) {
    throw invalid('DeletionProtection modification must be the only operation in the request')
  }
  if (changes.includes('TableClass')) {
    throw invalid('TableClass modification must be the only operation in the request')
  }
  const isIndexMade = input.GlobalSecondaryIndexUpdates?.some((each) => each.Create ?? each.Delete)
  if (input.ProvisionedThroughput && isIndexMade) {
    throw invalid('You cannot create or delete index while updating table IOPS')
  }
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
  if (input.SecureDeleteEnabled === false && old.secureDelete) {
    throw invalid('SecureDeleteEnabled cannot be turned off. Copy the items to another table')
  }
  if (input.SecureDeleteEnabled) details.secureDelete = true
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

function invalid(reason: string): Error {
  return validationError(`One or more parameter values were invalid: ${reason}`)
}
