/** Reading a document that may hold anything: what is not as expected counts as absent. */
export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : []
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

export function textsOf(value: unknown): string[] {
  return listOf(value).filter((each): each is string => typeof each === 'string')
}

/** A value on one line, as JSON writes it; long ones are cut. */
export function inline(value: unknown, maxLength = 120): string {
  const text = JSON.stringify(value) ?? 'undefined'
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
}
