/** The limits of KMS's parameters. Requests come from other programs, so types are checked as well. */
import type { EncryptionContext } from './encryption-context.ts'
import { unsupported, validationError } from './errors.ts'

const MOST_GRANT_TOKENS = 10
const LONE_SURROGATE = /\p{Surrogate}/u

/** A request as it comes, before anything is known about its members. */
export type Unchecked<Input> = Readonly<Partial<Record<keyof Input, unknown>>>

export function textIn(value: unknown, name: string, least: number, most: number): string {
  if (typeof value !== 'string' || value.length < least || value.length > most) {
    throw validationError(`${name} must be a string of ${least} to ${most} characters`)
  }
  return value
}

export function keyIdIn(value: unknown, name = 'KeyId'): string {
  return textIn(value, name, 1, 2048)
}

export function numberIn(value: unknown, name: string, least: number, most: number): number {
  if (!Number.isInteger(value) || (value as number) < least || (value as number) > most) {
    throw validationError(`${name} must be a whole number from ${least} to ${most}`)
  }
  return value as number
}

/** A copy, as below: callers wipe their bytes, maybe before the call has ended. */
export function bytesIn(value: unknown, name: string, most: number): Uint8Array {
  if (!(value instanceof Uint8Array) || value.length < 1 || value.length > most) {
    throw validationError(`${name} must be 1 to ${most} bytes`)
  }
  return Uint8Array.from(value)
}

/** A copy, so that a caller who changes the object later changes nothing here. */
export function contextIn(value: unknown, name = 'EncryptionContext'): EncryptionContext {
  if (value === undefined) return {}
  const wellFormed = (text: unknown) => typeof text === 'string' && !LONE_SURROGATE.test(text)
  if (!isRecord(value) || !Object.entries(value).flat().every(wellFormed)) {
    throw validationError(`${name} must be a map of strings of well-formed Unicode`)
  }
  return { ...(value as Record<string, string>) }
}

export function checkGrantTokens(value: unknown): void {
  if (value === undefined) return
  if (!Array.isArray(value) || value.length > MOST_GRANT_TOKENS) {
    throw validationError(`GrantTokens must be a list of at most ${MOST_GRANT_TOKENS}`)
  }
  for (const token of value) textIn(token, 'A grant token', 1, 8192)
}

/** What AWS has and this KMS has not: ignoring it would promise something that is not done. */
export function refuseUnsupported(
  input: Readonly<Record<string, unknown>>,
  members: Readonly<Record<string, readonly unknown[]>>,
): void {
  for (const [name, harmless] of Object.entries(members)) {
    const value = input[name]
    if (value !== undefined && !harmless.includes(value)) {
      throw unsupported(`This KMS does not support the given ${name}: leave it out`)
    }
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
