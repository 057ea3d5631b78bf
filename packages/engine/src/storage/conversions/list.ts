import type { Conversion } from './conversion.ts'
import { toFormat2 } from './to-format-2.ts'
import { toFormat3 } from './to-format-3.ts'
import { toFormat4 } from './to-format-4.ts'
import { toFormat5 } from './to-format-5.ts'

/** In order. Conversions are never removed or changed, because directories of every format exist. */
export const conversions: readonly Conversion[] = [toFormat2, toFormat3, toFormat4, toFormat5]
