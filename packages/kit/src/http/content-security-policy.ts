/**
 * Content security policies, from exact sources only: inline code, evaluation and wildcards cannot be
 * allowed.
 */
import { createHash } from 'node:crypto'

/** For responses that are not pages: a browser that shows one as a page loads nothing. */
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
  /** Names of the Trusted Types policies that scripts may create; none by default. */
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
  // Images created on the page, such as QR codes, run no code.
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
