/**
 * Secure deletion, an option that AWS does not have: what a write replaces or deletes cannot be recovered
 * from the data directory. A log of changes with images would keep it, so such a table has none.
 */
import { validationError } from '../errors.ts'
import type { NewLog } from '../storage/storage.ts'

export function checkSecureDelete(logs: readonly Pick<NewLog, 'kind' | 'view'>[]): void {
  for (const { kind, view } of logs) {
    if (kind === 'recovery') {
      throw validationError(
        'One or more parameter values were invalid: A table with SecureDeleteEnabled cannot have point-in-time recovery, which keeps deleted items',
      )
    }
    if (kind === 'stream' && view !== 'KEYS_ONLY') {
      throw validationError(
        'One or more parameter values were invalid: The stream of a table with SecureDeleteEnabled must have the view type KEYS_ONLY, because others keep deleted items',
      )
    }
  }
}
