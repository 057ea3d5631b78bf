/** What a change replaced, as the audit log shows it: short texts, never secrets. */
import type { AuditChange } from './item.ts'

const MAX_TEXT_CHARACTERS = 200

/** The text of an attribute; `hidden` if the log must not contain the value. */
type Describe = (value: string) => string | undefined

export const hidden: Describe = () => undefined

/** A JSON text or another value as it is stored, cut if it is long. */
export const asText: Describe = (value) =>
  value.length > MAX_TEXT_CHARACTERS ? `${value.slice(0, MAX_TEXT_CHARACTERS - 1)}…` : value

/** Only the origin: the path and the query of a webhook often contain a token. */
export const origin: Describe = (value) => {
  const url = new URL(value)
  const base = url.host === '' ? value : `${url.protocol}//${url.host}`
  return url.pathname + url.search === '/' || url.host === '' ? base : `${base}/…`
}

/** A change that is described equally before and after is listed by its name only. */
export function describeChanges<T extends object>(
  before: Partial<T> | null,
  updates: Partial<T>,
  attributes: { readonly [Name in keyof T]?: Describe },
): AuditChange[] {
  const changes: AuditChange[] = []
  for (const name of Object.keys(attributes) as (keyof T & string)[]) {
    if (!(name in updates)) continue
    const [old, current] = [toText(before?.[name]), toText(updates[name])]
    if (old === current) continue
    const describe = attributes[name] ?? hidden
    const [from, to] = [old, current].map((text) => text && describe(text))
    changes.push({
      name,
      ...(from !== to && from && { before: from }),
      ...(from !== to && to && { after: to }),
    })
  }
  return changes
}

function toText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}
