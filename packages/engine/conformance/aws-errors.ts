/** Every error of AWS's API, from the classes of its SDK: which the engine returns, and which never. */
import * as sdk from '@aws-sdk/client-dynamodb'

/** The client for streams is a package of its own, too small to be needed here. */
const ofStreams = ['ExpiredIteratorException', 'TrimmedDataAccessException']

const ofTables = Object.keys(sdk).filter((name) => {
  const { prototype } = (sdk as unknown as Record<string, { prototype?: unknown }>)[name] ?? {}
  return prototype instanceof Error && name !== 'DynamoDBServiceException'
})

export const awsErrors: readonly string[] = [...ofTables, ...ofStreams].toSorted((a, b) =>
  a < b ? -1 : 1,
)

const notServed = 'The operations that return it are not implemented'
const nothingShared = 'There is no shared capacity to protect, and nothing is ever throttled'
const oneAtATime = 'Writes are applied one after the other, so they never conflict'

/** Why the engine never returns an error of AWS. */
export const neverAnswered: Readonly<Record<string, string>> = {
  ContinuousBackupsUnavailableException: 'Continuous backups are available for every table',
  ExportConflictException: notServed,
  ExportNotFoundException: notServed,
  GlobalTableAlreadyExistsException: notServed,
  GlobalTableNotFoundException: notServed,
  ImportConflictException: notServed,
  ImportNotFoundException: notServed,
  IndexNotFoundException: notServed,
  InvalidEndpointException: 'The address of DescribeEndpoints never changes',
  InvalidExportTimeException: notServed,
  ItemCollectionSizeLimitExceededException: 'The items of one partition may exceed 10 GB',
  PolicyNotFoundException: notServed,
  ProvisionedThroughputExceededException: nothingShared,
  ReplicaAlreadyExistsException: notServed,
  ReplicaNotFoundException: notServed,
  ReplicatedWriteConflictException: notServed,
  RequestLimitExceeded: nothingShared,
  TableInUseException: 'Backups and restores do not lock a table',
  ThrottlingException: nothingShared,
  TransactionConflictException: oneAtATime,
  TransactionInProgressException: oneAtATime,
}

/** Of `docs/dynamodb-differences.md`. */
export function errorsSection(): string[] {
  const answered = awsErrors.filter((name) => !(name in neverAnswered))
  return [
    '## Errors',
    '',
    `Returned (${answered.length}), besides ValidationException and the protocol errors: ${answered.join(', ')}.`,
    '',
    '| Never returned | Reason |',
    '| --- | --- |',
    ...Object.entries(neverAnswered).map(([name, reason]) => `| ${name} | ${reason} |`),
    '',
  ]
}
