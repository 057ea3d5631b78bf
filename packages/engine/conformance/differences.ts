/**
 * Every known way in which a target answers unlike AWS, with its reason.
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

const onlyLocal: Difference = { targets: ['dynamodb-local'], aws: '', instead: '', reason: '' }

export const differences = {
  'missing-table-text': onlyLocal,
  'key-texts': onlyLocal,
  'key-size-texts': onlyLocal,
  'parameter-texts': onlyLocal,
  'update-index-key-texts': onlyLocal,
  'updated-nested': onlyLocal,
  'number-texts': onlyLocal,
  'legacy-parameters': { ...onlyLocal, targets: ['drop-in', 'http', 'db'] },
  'legacy-texts': onlyLocal,
  'legacy-default-action': onlyLocal,
  'table-first': onlyLocal,
  'transaction-capacity': onlyLocal,
  'index-write-units': onlyLocal,
  'units-of-nothing': onlyLocal,
  'item-collection-metrics': onlyLocal,
  tags: onlyLocal,
  'continuous-backups': onlyLocal,
  endpoints: onlyLocal,
  'deep-documents': onlyLocal,
  'sum-digits': onlyLocal,
  'long-attribute-names': onlyLocal,
  'sum-zeros': onlyLocal,
  'plain-values': { ...onlyLocal, targets: ['db'] },
  'lenient-schema': onlyLocal,
  'backfill-types': onlyLocal,
  'table-id': onlyLocal,
  'table-in-use-text': onlyLocal,
  'schema-texts': onlyLocal,
  'update-table-missing-index': onlyLocal,
  'transaction-update-expression': onlyLocal,
  'transaction-validation': onlyLocal,
  'batch-empty-texts': onlyLocal,
  'batch-request-texts': onlyLocal,
  'token-length': onlyLocal,
  'page-before-filter': onlyLocal,
  'start-key-texts': onlyLocal,
  'key-condition-texts': onlyLocal,
  'select-texts': onlyLocal,
  'unknown-enums': onlyLocal,
} satisfies Record<string, Difference>

export type DifferenceId = keyof typeof differences
