/** Attribute names: any text but none at all, and up to 65,535 bytes of it. */
import { validationError } from '../errors.ts'

const MAX_BYTES = 65_535

export function checkAttributeName(name: string): void {
  if (name === '') throw validationError('Empty attribute name')
  // A UTF-16 unit is at most three bytes, so that only long names have to be measured.
  if (name.length * 3 > MAX_BYTES && Buffer.byteLength(name) > MAX_BYTES) {
    throw validationError('Attribute name is too large, must be less than 65536 bytes')
  }
}
