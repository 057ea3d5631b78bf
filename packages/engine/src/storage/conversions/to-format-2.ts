import type { Conversion } from './conversion.ts'

/**
 * Format 2 added logs of changes, and backups. A directory of format 1 has none, so nothing is rewritten;
 * but programs that do not log changes must not write to it any more.
 */
export const toFormat2: Conversion = {
  to: 2,
  summary: 'enables logs of changes and backups',
  growth: 0,
  step: () => undefined,
}
