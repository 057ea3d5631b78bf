/**
 * The definition of a restored table: keys, indexes and billing of its source, unless the request
 * overrides them. As in AWS, stream, time to live, tags, deletion protection, table class and
 * point-in-time recovery are not restored.
 */
import { randomUUID } from 'node:crypto'
import type { GlobalSecondaryIndex, LocalSecondaryIndex, TableDescription } from '../db.ts'
import type { RestoreOverrides } from '../db-backups.ts'
import { validationError } from '../errors.ts'
import type { IndexRecord, NewIndex, NewTable, TableRecord } from '../storage/storage.ts'
import { list, newTableName, structure, type Shape } from '../validation/shapes.ts'
import { checkIndex } from '../validation/table-definition.ts'
import { billingMode, provisionedThroughput, secondaryIndex } from '../validation/table-shapes.ts'
import { detailsOf, type TableDetails } from './describe.ts'
import { usedDefinitions } from './index-updates.ts'

export const overrideShapes: Record<string, Shape> = {
  'TargetTableName!': newTableName,
  BillingModeOverride: billingMode,
  ProvisionedThroughputOverride: provisionedThroughput,
  GlobalSecondaryIndexOverride: list(
    structure('GlobalSecondaryIndex', {
      ...secondaryIndex,
      ProvisionedThroughput: provisionedThroughput,
    }),
  ),
  LocalSecondaryIndexOverride: list(structure('LocalSecondaryIndex', secondaryIndex)),
}

export function restoredTable(
  source: TableRecord,
  input: RestoreOverrides,
  summary: NonNullable<TableDescription['RestoreSummary']>,
  now: number,
): NewTable {
  const { definitions, ...details } = detailsOf(source)
  const billing = billingOf(input, details)
  const indexes = indexesOf(source, input, billing.billingMode)
  const wanted: TableDetails = {
    tableId: randomUUID(),
    definitions: usedDefinitions(source, indexes, definitions),
    ...billing,
    ...(billing.billingMode === 'PAY_PER_REQUEST' && { onDemandSince: now }),
    restored: summary,
    ...(details.secureDelete && { secureDelete: true }),
  }
  return {
    name: input.TargetTableName,
    keys: source.keys,
    indexes,
    details: { ...wanted },
    ...(source.encrypted && { encrypted: source.encrypted }),
  }
}

function billingOf(
  input: RestoreOverrides,
  source: Pick<TableDetails, 'billingMode' | 'throughput'>,
): Pick<TableDetails, 'billingMode' | 'throughput'> {
  const mode = input.BillingModeOverride ?? source.billingMode
  const throughput = input.ProvisionedThroughputOverride ?? undefined
  if (mode === 'PAY_PER_REQUEST') {
    if (throughput) throw needlessThroughput(input)
    return { billingMode: mode }
  }
  const given = throughput ?? source.throughput
  if (!given) {
    throw invalidRequest(
      'Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED',
    )
  }
  return { billingMode: mode, throughput: given }
}

function indexesOf(
  source: TableRecord,
  input: RestoreOverrides,
  billing: TableDetails['billingMode'],
): NewIndex[] {
  const kept = (kind: IndexRecord['kind']) => source.indexes.filter((each) => each.kind === kind)
  const of = (kind: IndexRecord['kind'], override: Override[] | null | undefined) =>
    override
      ? override.map((wanted) => overrideIndex(kept(kind), wanted, source, input, billing))
      : kept(kind).map((index) => withoutId(index, billing))
  const global = of('global', input.GlobalSecondaryIndexOverride)
  const unprovisioned = global.find(({ details }) => billing === 'PROVISIONED' && !details)
  if (unprovisioned) {
    throw invalidRequest(`Must specify provisioned throughput for index ${unprovisioned.name}`)
  }
  const indexes = [...global, ...of('local', input.LocalSecondaryIndexOverride)]
  const names = new Set<string>()
  for (const { name } of indexes) {
    if (names.has(name)) {
      throw validationError(
        `One or more parameter values were invalid: Duplicate index name: ${name}`,
      )
    }
    names.add(name)
  }
  return indexes
}

/** Finds an index of the source by keys and projection; its name may differ. */
function overrideIndex(
  known: readonly IndexRecord[],
  wanted: Override,
  source: TableRecord,
  input: RestoreOverrides,
  billing: TableDetails['billingMode'],
): NewIndex {
  const { IndexName: name } = wanted
  const index = known.find((candidate) => isSame(candidate, wanted, source))
  if (!index) throw unknownIndex(name)
  const throughput = 'ProvisionedThroughput' in wanted ? wanted.ProvisionedThroughput : undefined
  if (throughput && billing === 'PAY_PER_REQUEST')
    throw needlessThroughput(input, ` for index ${name}`)
  const { details: _details, ...same } = withoutId(index, billing)
  return { ...same, name, ...(throughput && { details: { throughput } }) }
}

function needlessThroughput(input: RestoreOverrides, of = ''): Error {
  return invalidRequest(
    input.BillingModeOverride
      ? `Cannot override ProvisionedThroughput if BillingMode is overridden to PAY_PER_REQUEST${of}`
      : `Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED${of}`,
  )
}

type Override = LocalSecondaryIndex | GlobalSecondaryIndex

/** An override can omit indexes, but not add others. */
function isSame(index: IndexRecord, wanted: Override, source: TableRecord): boolean {
  const { keys, projection } = checkIndex({ ...wanted }, detailsOf(source).definitions)
  const attributes = (of: IndexRecord['projection']) => (of.attributes ?? []).toSorted().join(' ')
  return (
    keys.partition.name === index.keys.partition.name &&
    keys.sort?.name === index.keys.sort?.name &&
    projection.type === index.projection.type &&
    attributes(projection) === attributes(index.projection)
  )
}

function withoutId(
  { id: _id, status: _status, details, ...index }: IndexRecord,
  billing: TableDetails['billingMode'],
): NewIndex {
  return details && billing === 'PROVISIONED' ? { ...index, details } : index
}

function unknownIndex(name: string): Error {
  return invalidRequest(
    `Index ${name} does not match a secondary index that existed in the source table and cannot be created during the restore operation`,
  )
}

export function invalidRequest(reason: string): Error {
  return validationError(`Invalid Request: ${reason}`)
}
