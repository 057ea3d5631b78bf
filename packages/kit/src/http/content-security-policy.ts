/**
 * Content security policies. The only way to write one is by exact sources: there is no way to allow
 * inline code, evaluation or everyone.
 */
import { createHash, randomBytes } from 'node:crypto'

/** For answers that are not pages: a browser that shows one as a page gets nothing from it. */
export const apiPolicy =
  "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export interface PageSources {
  scripts?: readonly string[]
  styles?: readonly string[]
  images?: readonly string[]
  fonts?: readonly string[]
  /** Where scripts may send requests to. */
  connect?: readonly string[]
  workers?: readonly string[]
  manifest?: readonly string[]
  /** Where forms may be sent to. */
  forms?: readonly string[]
  /** Names of the Trusted Types policies that scripts may make; none unless told. */
  trustedTypes?: readonly string[]
}

const DIRECTIVES = {
  scripts: 'script-src',
  styles: 'style-src',
  images: 'img-src',
  fonts: 'font-src',
  connect: 'connect-src',
  workers: 'worker-src',
  manifest: 'manifest-src',
} as const

const SOURCE =
  /^(?:'self'|'nonce-[A-Za-z0-9+/_-]{16,}={0,2}'|'sha(?:256|384|512)-[A-Za-z0-9+/]{40,}={0,2}'|https:\/\/[a-z0-9.-]+(?::\d{1,5})?(?:\/[^\s;,'"*]*)?)$/

/** The policy of a page: nothing but the named sources, no plug-ins, no frames, no inline anything. */
export function pagePolicy(sources: PageSources): string {
  const parts = ["default-src 'none'"]
  for (const [kind, directive] of Object.entries(DIRECTIVES)) {
    const allowed = sources[kind as keyof typeof DIRECTIVES] ?? []
    if (allowed.length > 0)
      parts.push(`${directive} ${allowed.map((source) => check(kind, source)).join(' ')}`)
  }
  const forms = (sources.forms ?? []).map((source) => check('forms', source))
  parts.push(
    `form-action ${forms.length > 0 ? forms.join(' ') : "'none'"}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    `trusted-types ${trustedTypes(sources.trustedTypes ?? [])}`,
  )
  return parts.join('; ')
}

function trustedTypes(names: readonly string[]): string {
  const wrong = names.find((name) => !/^[A-Za-z0-9_-]+$/.test(name))
  if (wrong !== undefined)
    throw new TypeError(`Cannot allow the Trusted Types policy "${wrong}": use letters and digits`)
  return names.length > 0 ? names.join(' ') : "'none'"
}

function check(kind: string, source: string): string {
  // Pictures made on the page, such as QR codes, run no code.
  if (SOURCE.test(source) || (kind === 'images' && (source === 'data:' || source === 'blob:')))
    return source
  throw new TypeError(
    `Cannot allow "${source}" for ${kind}: use 'self', a nonce, a hash or an exact https address`,
  )
}

/** The source that allows exactly this inline text, for what cannot be a file of its own. */
export function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

/** A nonce for one answer: `value` goes into the element, `source` into the policy. */
export function createNonce(): { value: string; source: string } {
  const value = randomBytes(18).toString('base64')
  return { value, source: `'nonce-${value}'` }
}
