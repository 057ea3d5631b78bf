// Checks the format file of a data directory.

import { DataError } from '../lmdb/failures.ts'
import { type Format, FORMAT_FILE, FORMAT_VERSION, readFormat } from '../lmdb/format.ts'
import type { Problems } from './problems.ts'

/** Returns the format, undefined if it is unknown. Records of other formats cannot be checked. */
export function checkFormat(directory: string, problems: Problems): number | undefined {
  const add = (remedy: Parameters<Problems['add']>[1], text: string): void =>
    problems.add('format', remedy, `${text}, so records were not checked`)
  let found: Format | undefined
  try {
    found = readFormat(directory)
  } catch (error) {
    if (!(error instanceof DataError)) throw error
    const { cause } = error
    if (cause instanceof Error && 'code' in cause) {
      add('access', `${FORMAT_FILE} cannot be read (${String(cause.code)})`)
    } else add('restore', `${FORMAT_FILE} is damaged`)
    return undefined
  }
  if (found === undefined) add('restore', `${FORMAT_FILE} is missing`)
  else if (found.format > FORMAT_VERSION) {
    add('upgrade', `A newer version wrote the directory (format ${found.format})`)
  } else if (found.converting) {
    add('start', `Its conversion to format ${found.format} is not complete`)
  } else if (found.format < FORMAT_VERSION) {
    add('start', `An older version wrote the directory (format ${found.format})`)
  }
  return found?.format
}
