/** Schemas of values that several items share. */
import * as z from 'zod'

/** `evt_` and 16 characters, as kit/ids creates them. */
export function id(prefix: string): z.ZodString {
  return z.string().regex(new RegExp(`^${prefix}_[A-Za-z0-9_-]{16}$`))
}

export const isoTime = z.iso.datetime({ precision: 3 })

/** Milliseconds since the epoch; thirteen digits, so that their text sorts as they do. */
export const milliseconds = z.number().int().min(1_000_000_000_000).max(9_999_999_999_999)

/** Whole seconds since the epoch, the unit of `expiresAt`. */
export const seconds = z.number().int().positive()

export const count = z.number().int().nonnegative()

/** Names are shown in mails and terminals, and stores replace half a surrogate pair. */
export const FORBIDDEN_NAME_CHARACTERS = /[\p{Cc}\p{Cs}]/u

/**
 * A secret as the key store seals it, in base64: an AWS Encryption SDK message, version 2, suite
 * 0x0478. A secret stored without encryption does not start with it.
 */
export const sealed = z
  .string()
  .max(16_384)
  .regex(/^AgR4[A-Za-z0-9+/_-]+={0,2}$/)

export const bytes = z.custom<Uint8Array>((value) => value instanceof Uint8Array)

/** JSON as text, as the specification stores it. */
export function json(kind: 'array' | 'object', maxLength: number): z.ZodType<string, string> {
  return z
    .string()
    .max(maxLength)
    .refine((text) => kindOfJson(text) === kind)
}

function kindOfJson(text: string): 'array' | 'object' | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (Array.isArray(value)) return 'array'
    return typeof value === 'object' && value !== null ? 'object' : undefined
  } catch {
    return undefined
  }
}
