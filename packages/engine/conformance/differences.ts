/**
 * Every known difference between a target and AWS, with its reason.
 *
 * A suite consults an entry by its id; `docs/dynamodb-differences.md` lists them all. A test fails
 * when an entry is in no suite or not in the document, so this table cannot go stale.
 */

/** Amazon's DynamoDB Local, or one of the three faces of the engine. */
export type TargetKind = 'dynamodb-local' | 'drop-in' | 'http' | 'db'

export interface Difference {
  targets: readonly TargetKind[]
  /** What AWS does. */
  aws: string
  /** What the target does instead. */
  instead: string
  reason: string
}

const local = ['dynamodb-local'] as const

const ownValidation = 'DynamoDB Local has its own request validation'
const notImplemented = 'Amazon did not implement it in DynamoDB Local'

export const differences = {
  'plain-values': {
    targets: ['db'],
    aws: 'Rejects an AttributeValue without a type, a set with duplicate members, an empty set of a known type, and text that is not a number',
    instead:
      'Cannot happen: a plain JavaScript value always has a type, and a Set has no duplicates',
    reason: 'The in-process face takes plain values',
  },

  'remove-from-missing': {
    targets: local,
    aws: 'An update that only removes attributes or members of sets does not create a missing item, and its paths may lead nowhere',
    instead: 'Creates the item, and rejects such a path',
    reason: 'DynamoDB Local applies every update to an item of the key',
  },
  'index-sizes': {
    targets: local,
    aws: 'IndexSizeBytes is the size of what the index projects',
    instead: 'IndexSizeBytes is the size of the whole items',
    reason: 'DynamoDB Local keeps no projections',
  },
  'missing-table-text': {
    targets: local,
    aws: 'Says "Requested resource not found", table operations with the name of the table',
    instead: 'Says "Cannot do operations on a non-existent table"',
    reason: ownValidation,
  },
  'table-in-use-text': {
    targets: local,
    aws: 'Says "Table already exists" with the name of the table',
    instead: 'Says "Cannot create preexisting table"',
    reason: ownValidation,
  },
  'parameter-texts': {
    targets: local,
    aws: 'Reports all violated constraints at once: "2 validation errors detected: Value … at … failed to satisfy constraint: …"',
    instead: 'Reports the first violation, with a different text',
    reason: ownValidation,
  },
  'unchecked-parameters': {
    targets: local,
    aws: 'Rejects an empty list of Parameters or AttributesToGet, a ClientRequestToken of ExecuteTransaction that is too long, and a NextToken that it did not issue',
    instead: 'Accepts the former, and fails with an InternalFailure on the latter',
    reason: ownValidation,
  },
  'unknown-enums': {
    targets: local,
    aws: 'Rejects an unknown ReturnConsumedCapacity or BillingMode',
    instead: 'Ignores the former and fails with an InternalFailure on the latter',
    reason: ownValidation,
  },
  'table-first': {
    targets: local,
    aws: 'Reports a malformed expression or value even when the table does not exist',
    instead: 'Reports the missing table first',
    reason: ownValidation,
  },
  'key-texts': {
    targets: local,
    aws: 'Names the key attribute, its type and the index in errors about keys',
    instead: 'Has texts without these names',
    reason: ownValidation,
  },
  'key-size-texts': {
    targets: local,
    aws: 'Has separate texts for partition keys over 2,048 bytes and sort keys over 1,024',
    instead: 'Has one text for both',
    reason: ownValidation,
  },
  'key-condition-texts': {
    targets: local,
    aws: 'Names the key attribute that a key condition lacks, and refuses nested paths as such',
    instead: 'Does not name it, and uses the text for nested paths in other expressions',
    reason: ownValidation,
  },
  'start-key-texts': {
    targets: local,
    aws: 'Says "The provided starting key is invalid", or that it is outside the query boundaries',
    instead: 'Has a different text, or blames the range key predicate',
    reason: ownValidation,
  },
  'number-texts': {
    targets: local,
    aws: 'Says "The parameter cannot be converted to a numeric value: …" and "Attempting to store more than 38 significant digits in a Number"',
    instead:
      'Says "A value provided cannot be converted into a number" and "DynamoDB only supports precision up to 38 digits"',
    reason: ownValidation,
  },
  'schema-texts': {
    targets: local,
    aws: 'Has a detailed text for each mistake in a table or index definition',
    instead: 'Has shorter texts',
    reason: ownValidation,
  },
  'lenient-schema': {
    targets: local,
    aws: 'Rejects throughput together with PAY_PER_REQUEST, an empty list of local indexes, indexes without throughput in a provisioned table, and changes of a table that exclude each other',
    instead: 'Accepts some of them, and fails with an InternalFailure on the others',
    reason: ownValidation,
  },
  'legacy-texts': {
    targets: local,
    aws: 'Names types by their letters in errors about AttributeUpdates, and duplicate AttributesToGet',
    instead: 'Spells types out, and has another text for duplicates',
    reason: ownValidation,
  },
  'legacy-default-action': {
    targets: local,
    aws: 'Treats an AttributeUpdates entry without Action as PUT',
    instead: 'Ignores the entry',
    reason: ownValidation,
  },
  'transaction-validation': {
    targets: local,
    aws: 'Cancels a transaction with the reason ValidationError for an action that does not fit its table or item',
    instead:
      'Rejects some of them as a whole with a ValidationException, and words the reasons differently',
    reason: ownValidation,
  },
  'transaction-update-expression': {
    targets: local,
    aws: 'Rejects an Update action without an UpdateExpression',
    instead: 'Accepts it and does nothing',
    reason: ownValidation,
  },
  'deep-documents': {
    targets: local,
    aws: 'Rejects a document nested far too deep with a ValidationException',
    instead: 'Fails with an InternalFailure',
    reason: 'Its JSON reader runs out of stack',
  },
  'long-attributes-to-get': {
    targets: local,
    aws: 'Rejects names of more than 65,535 bytes in AttributesToGet',
    instead: 'Accepts them in GetItem',
    reason: ownValidation,
  },
  'long-start-keys': {
    targets: local,
    aws: 'Rejects a start key of an index that is longer than a key can be',
    instead: 'Accepts it',
    reason: ownValidation,
  },
  'set-order': {
    targets: local,
    aws: 'Sorts the members of a set by unsigned bytes',
    instead: 'Sorts strings by UTF-16 units, and binaries by signed bytes',
    reason: 'It compares as Java does',
  },
  'long-attribute-names': {
    targets: local,
    aws: 'Allows attribute names of up to 65,535 bytes',
    instead: 'Fails with an InternalFailure on long names',
    reason: 'Its storage has a smaller limit',
  },

  serialization: {
    targets: local,
    aws: 'Rejects a body that does not match the request structure with a SerializationException',
    instead: 'Fails with an InternalFailure, or accepts a number as a string',
    reason: ownValidation,
  },
  'error-checksums': {
    targets: local,
    aws: 'Sends the checksum of the body in x-amz-crc32 with errors too',
    instead: 'Sends it only with results',
    reason: notImplemented,
  },

  'updated-nested': {
    targets: local,
    aws: 'UPDATED_OLD and UPDATED_NEW return only the part of a document that an update names',
    instead: 'Returns the whole top-level attribute',
    reason: notImplemented,
  },
  'sum-zeros': {
    targets: local,
    aws: 'Returns every number in its shortest form',
    instead: 'Keeps trailing zeros in the result of an addition, such as 2.010',
    reason: 'It stores the result of a Java BigDecimal as it is',
  },
  'nested-numbers': {
    targets: local,
    aws: 'Returns every number in its shortest form',
    instead: 'Returns a number inside a list or map as it was written, such as 1e2',
    reason: 'It keeps documents as the text of the request',
  },
  'unprojected-filter': {
    targets: local,
    aws: 'The filter of a scan sees only what the index holds',
    instead: 'It sees the whole item',
    reason: 'Its indexes point to the items of the table',
  },
  'page-before-filter': {
    targets: local,
    aws: 'Ends a page after 1 MB read, before the filter',
    instead: 'Counts only what passes the filter',
    reason: notImplemented,
  },
  'backfill-types': {
    targets: local,
    aws: 'Leaves items whose key attribute has another type out of a new index',
    instead: 'Includes them if they are scalar, and never finishes the index if they are not',
    reason: notImplemented,
  },
  'transaction-capacity': {
    targets: local,
    aws: 'Counts writes in a transaction twice',
    instead: 'Counts them once when ReturnConsumedCapacity is requested',
    reason: notImplemented,
  },
  'units-of-nothing': {
    targets: local,
    aws: 'Counts at least half a unit for a query, and for each missing item of a batch',
    instead: 'Counts nothing for them',
    reason: notImplemented,
  },
  'item-collection-metrics': {
    targets: local,
    aws: 'Returns ItemCollectionMetrics for tables with local indexes',
    instead: 'Returns none',
    reason: notImplemented,
  },
  'table-id': {
    targets: local,
    aws: 'Gives every table a TableId',
    instead: 'Gives none',
    reason: notImplemented,
  },
  'duplicate-item': {
    targets: local,
    aws: 'Rejects an INSERT of an existing item with a DuplicateItemException',
    instead: 'Uses the name DuplicateItem',
    reason: ownValidation,
  },
  'statement-capacity': {
    targets: local,
    aws: 'Returns the capacity that a PartiQL statement consumed',
    instead: 'Returns none',
    reason: notImplemented,
  },
  'statement-last-key': {
    targets: local,
    aws: 'Returns LastEvaluatedKey beside NextToken',
    instead: 'Returns NextToken alone',
    reason: notImplemented,
  },
  tags: {
    targets: local,
    aws: 'Stores tags of tables',
    instead: 'Rejects the operations with an UnknownOperationException',
    reason: notImplemented,
  },
  'continuous-backups': {
    targets: local,
    aws: 'Supports continuous backups and point-in-time recovery',
    instead: 'Rejects the operations with an UnknownOperationException',
    reason: notImplemented,
  },
  backups: {
    targets: local,
    aws: 'Creates, lists, deletes and restores backups',
    instead: 'Rejects the operations with an UnknownOperationException',
    reason: notImplemented,
  },
  'stream-texts': {
    targets: local,
    aws: 'Names the table or the shard in errors about streams, and what is wrong with a StreamSpecification',
    instead: 'Has shorter texts',
    reason: ownValidation,
  },
  'stream-parameters': {
    targets: local,
    aws: 'Rejects an unknown ShardIteratorType, and a Limit above 1,000 records or 100 shards or streams, with the constraint',
    instead: 'Fails with an InternalFailure on the former, and has a different text for the latter',
    reason: ownValidation,
  },
  'expiry-in-streams': {
    targets: local,
    aws: 'Writes a record of each item that expires, with the service as its identity',
    instead: 'Writes a record without an identity, with the name UNKNOWN_TO_SDK_VERSION',
    reason: notImplemented,
  },
  endpoints: {
    targets: local,
    aws: 'Supports DescribeEndpoints',
    instead: 'Rejects it with an UnknownOperationException',
    reason: notImplemented,
  },
} as const satisfies Record<string, Difference>

export type DifferenceId = keyof typeof differences
