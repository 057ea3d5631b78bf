/**
 * The description of a table, and what the operations store with it besides keys and indexes.
 *
 * Sizes and counts are exact; AWS's are hours old. Capacity is stored and returned, but limits nothing.
 */
import type { AttributeDefinition, TableDescription, Tag, Throughput } from '../db.ts'
import type { IndexRecord, KeySchema, Storage, TableRecord } from '../storage/storage.ts'
import type { Context } from './operation.ts'

/** The data of the operations in the record of a table. */
export interface TableDetails {
  tableId: string
  definitions: AttributeDefinition[]
  billingMode: 'PROVISIONED' | 'PAY_PER_REQUEST'
  throughput?: Throughput
  /** Epoch milliseconds of the last change to on-demand billing. */
  onDemandSince?: number
  deletionProtection?: boolean
  tableClass?: string
  secureDelete?: boolean
  tags?: Tag[]
  /** The source of a running restore. */
  restored?: NonNullable<TableDescription['RestoreSummary']>
}

export function detailsOf(table: TableRecord): TableDetails {
  return table.details as unknown as TableDetails
}

/** A copy of the record with other details, for `replaceTable`. */
export function withDetails(table: TableRecord, change: Partial<TableDetails>): TableRecord {
  return { ...table, details: { ...detailsOf(table), ...change } }
}

export function tableArn({ region }: Pick<Context, 'region'>, name: string): string {
  return `arn:aws:dynamodb:${region}:000000000000:table/${name}`
}

function describeStream({ logs, streamLabel }: TableRecord, arn: string) {
  const stream = logs?.find(({ kind }) => kind === 'stream')
  return {
    ...(stream && {
      StreamSpecification: { StreamEnabled: true, StreamViewType: stream.view },
    }),
    ...(streamLabel !== undefined && {
      LatestStreamLabel: streamLabel,
      LatestStreamArn: `${arn}/stream/${streamLabel}`,
    }),
  }
}

type Status = 'ACTIVE' | 'DELETING'

export function describeTable(
  context: Context,
  table: TableRecord,
  status: Status = 'ACTIVE',
): TableDescription {
  const details = detailsOf(table)
  const arn = tableArn(context, table.name)
  const filling = table.indexes.some((index) => index.status === 'CREATING')
  const counted = status === 'ACTIVE'
  return {
    AttributeDefinitions: details.definitions,
    TableName: table.name,
    KeySchema: describeKeys(table.keys),
    TableStatus: tableStatus(table, status, filling),
    CreationDateTime: table.createdAt / 1000,
    ProvisionedThroughput: describeThroughput(details.throughput),
    TableSizeBytes: counted ? context.storage.size(table) : 0,
    ItemCount: counted ? context.storage.count(table) : 0,
    TableArn: arn,
    TableId: details.tableId,
    ...(details.billingMode === 'PAY_PER_REQUEST' && {
      BillingModeSummary: {
        BillingMode: 'PAY_PER_REQUEST',
        LastUpdateToPayPerRequestDateTime: (details.onDemandSince ?? table.createdAt) / 1000,
      },
    }),
    ...describeIndexes(context.storage, table, arn, status),
    ...describeStream(table, arn),
    ...(details.restored && table.restoring && { RestoreSummary: details.restored }),
    ...(details.tableClass && { TableClassSummary: { TableClass: details.tableClass } }),
    DeletionProtectionEnabled: details.deletionProtection ?? false,
    ...(details.secureDelete && { SecureDeleteEnabled: true }),
  }
}

function tableStatus(table: TableRecord, status: Status, filling: boolean): string {
  if (status !== 'ACTIVE') return status
  return table.restoring ? 'CREATING' : filling || table.encrypting ? 'UPDATING' : status
}

function describeIndexes(storage: Storage, table: TableRecord, arn: string, status: Status) {
  const global = table.indexes.filter((index) => index.kind === 'global')
  const local = table.indexes.filter((index) => index.kind === 'local')
  const describe = (index: IndexRecord) => ({
    IndexName: index.name,
    KeySchema: describeKeys(index.keys),
    Projection: describeProjection(index.projection),
    IndexSizeBytes: status === 'ACTIVE' ? storage.size(table, index) : 0,
    ItemCount: status === 'ACTIVE' ? storage.count(table, index) : 0,
    IndexArn: `${arn}/index/${index.name}`,
  })
  const describeGlobal = (index: IndexRecord) => ({
    ...describe(index),
    IndexStatus: status === 'DELETING' ? status : table.restoring ? 'CREATING' : index.status,
    ...(index.status === 'CREATING' && { Backfilling: true }),
    ProvisionedThroughput: describeThroughput(
      (index.details as { throughput?: Throughput } | undefined)?.throughput,
    ),
  })
  return {
    ...(global.length > 0 && { GlobalSecondaryIndexes: global.map(describeGlobal) }),
    ...(local.length > 0 && { LocalSecondaryIndexes: local.map(describe) }),
  }
}

export function describeProjection({ type, attributes }: IndexRecord['projection']) {
  return { ProjectionType: type, ...(attributes && { NonKeyAttributes: attributes }) }
}

function describeThroughput(throughput: Throughput | undefined) {
  return {
    NumberOfDecreasesToday: 0,
    ReadCapacityUnits: throughput?.ReadCapacityUnits ?? 0,
    WriteCapacityUnits: throughput?.WriteCapacityUnits ?? 0,
  }
}

export function describeKeys({ partition, sort }: KeySchema) {
  return [
    { AttributeName: partition.name, KeyType: 'HASH' },
    ...(sort ? [{ AttributeName: sort.name, KeyType: 'RANGE' }] : []),
  ]
}
