/** What is wrong with a request, field by field, for the author of the client. */
import type { ErrorDetail } from '../errors.ts'
import { requestError } from './errors.ts'

interface Issue {
  readonly code?: string | undefined
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly keys?: readonly string[]
  readonly errors?: readonly (readonly Issue[])[]
}

/** Enough to correct a request, whatever the size of its body. */
const MAX_DETAILS = 20

const PLACES: Record<string, string> = {
  json: 'body',
  form: 'body',
  param: 'path',
  cookie: 'cookie',
}

type Result = { target: string } & (
  | { success: true }
  | { success: false; error: { issues: readonly Issue[] } }
)

/** For zod-openapi's `defaultHook`: every failed validation is the same error. */
export function refuseInvalid(result: Result): void {
  if (result.success) return
  const place = PLACES[result.target] ?? result.target
  throw requestError('invalid', { details: issueDetails(place, result.error.issues) })
}

/** The details of zod issues below a path such as `body`: names of fields, never their values. */
export function issueDetails(place: string, issues: readonly Issue[]): ErrorDetail[] {
  return issues.flatMap((issue) => details(place, issue)).slice(0, MAX_DETAILS)
}

function details(place: string, issue: Issue): ErrorDetail[] {
  const path = join(place, issue.path)
  if (issue.code === 'unrecognized_keys') {
    return (issue.keys ?? []).map((key) => ({
      path: join(path, [key]),
      message: 'Is not a known field',
    }))
  }
  if (issue.code === 'invalid_union' && issue.errors && issue.errors.length > 0) {
    // The form that fits best is most likely the intended one.
    const nearest =
      issue.errors.toSorted((a, b) => depth(b) - depth(a) || a.length - b.length)[0] ?? []
    if (depth(nearest) > 0) return issueDetails(path, nearest)
  }
  const isMissing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined')
  return [{ path, message: isMissing ? 'Is required' : issue.message }]
}

function depth(issues: readonly Issue[]): number {
  return Math.max(0, ...issues.map(({ path }) => path.length))
}

function join(place: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`
    const name = String(part)
    // An unknown name may be anything, even a secret in the wrong place.
    return /^[A-Za-z0-9_$-]{1,64}$/.test(name) ? `${text}.${name}` : `${text}.(unreadable name)`
  }, place)
}
