/**
 * Links: `{base}#{id}:{fragment}` opens a secret, `{base}#m:{id}:{burnToken}` manages it, and
 * `{base}#r:{id}:{fragment}:{token}` asks for one. The id is after the `#` too, so that a request for
 * the page does not contain it.
 */
import { parseUrl } from '@strongroom/kit/parse-url'
import { fromBase64url } from './bytes.ts'
import { SealedError } from './errors.ts'
import { type Fragment, formatFragment, parseFragment } from './fragment.ts'
import {
  formatOwnFragment,
  formatRequestFragment,
  isRequestVersion,
  type OwnFragment,
  parseOwnFragment,
  parseRequestFragment,
  type RequestFragment,
} from './request-fragment.ts'
import { readRequestToken } from './request-token.ts'

/** The part after the `#`. */
export type LinkTarget =
  | { kind: 'secret'; id: string; fragment: Fragment }
  /** A link whose key is sent separately: `{base}#{id}`. */
  | { kind: 'secret-without-key'; id: string }
  | { kind: 'management'; id: string; burnToken: string }
  | OwnTarget
  | RequestTarget

/** The requester's own link, which opens what was put into the request. */
export interface OwnTarget {
  kind: 'own'
  id: string
  fragment: OwnFragment
}

/** Lets its holder put one secret into the request. */
export interface RequestTarget {
  kind: 'request'
  id: string
  fragment: RequestFragment
  token: string
}

/** `base` is where Sealed is mounted, with a trailing slash; the API is at `{base}v1`. */
export type Link = LinkTarget & { base: string }

export function formatLink(base: string, target: LinkTarget): string {
  return `${base}#${formatTarget(target)}`
}

export function formatTarget(target: LinkTarget): string {
  switch (target.kind) {
    case 'secret':
      return `${target.id}:${formatFragment(target.fragment)}`
    case 'secret-without-key':
      return target.id
    case 'management':
      return `m:${target.id}:${target.burnToken}`
    case 'own':
      return `${target.id}:${formatOwnFragment(target.fragment)}`
    case 'request':
      return `r:${target.id}:${formatRequestFragment(target.fragment)}:${target.token}`
  }
}

/** Throws a `SealedError` for anything but a whole link. */
export function parseLink(text: string): Link {
  const at = text.indexOf('#')
  if (at === -1) throw new SealedError('link_malformed')
  return { base: parseBase(text.slice(0, at)), ...parseTarget(text.slice(at + 1)) }
}

/** Parses the part after the `#`. Throws a `SealedError` if it is not one. */
export function parseTarget(text: string): LinkTarget {
  const parts = text.split(':')
  if (parts[0] === 'r') return parseRequest(parts.slice(1))
  const isManagement = parts[0] === 'm'
  const [id = '', key, ...more] = isManagement ? parts.slice(1) : parts
  if (!isId(id) || more.length > 0) throw new SealedError('link_malformed')
  if (isManagement) {
    if (key === undefined || !/^[0-9a-f]{32}$/.test(key)) throw new SealedError('link_incomplete')
    return { kind: 'management', id, burnToken: key }
  }
  if (key === undefined) return { kind: 'secret-without-key', id }
  if (isRequestVersion(key)) return { kind: 'own', id, fragment: parseOwnFragment(key) }
  return { kind: 'secret', id, fragment: parseFragment(key) }
}

function parseRequest([id = '', key, token, ...more]: readonly string[]): RequestTarget {
  if (!isId(id) || more.length > 0) throw new SealedError('link_malformed')
  if (key === undefined || token === undefined) throw new SealedError('link_incomplete')
  const fragment = parseRequestFragment(key)
  // A token of another request would be refused only after the secret was typed.
  if (readRequestToken(token)?.id !== id) throw new SealedError('link_incomplete')
  return { kind: 'request', id, fragment, token }
}

/** Canonical base64url of 16 bytes. */
function isId(text: string): boolean {
  return text.length === 22 && fromBase64url(text) !== undefined
}

/** The URL of a page as the base of links: `https://host/sealed` becomes `https://host/sealed/`. */
export function parseBase(text: string): string {
  const url = parseUrl(text)
  if (!url) throw new SealedError('link_malformed')
  const { protocol, origin, pathname, search, hash, username, password } = url
  const isWeb = protocol === 'https:' || protocol === 'http:'
  if (!isWeb || [search, hash, username, password].some((part) => part !== '')) {
    throw new SealedError('link_malformed')
  }
  return `${origin}${pathname.endsWith('/') ? pathname : `${pathname}/`}`
}

/** Removes what programs add to a pasted link: escapes, and the bracket, quote or full stop next to it. */
export function trimPastedLink(pasted: string): string {
  return pasted
    .replaceAll(/%(?:3a|2d|5f)/gi, decodeURIComponent)
    .replace(/^(?:%[0-9a-f]{2}|[^\w-])+/i, '')
    .replace(/(?:%[0-9a-f]{2}|[^\w:=%-])+$/i, '')
}

/** A `#` that a mail or chat program has escaped, once or several times. */
export const ESCAPED_HASH = /%(?:25)*23/

/** Repairs a link whose `#` was escaped, and what was escaped with it. Others are unchanged. */
export function repairEscapedHash(text: string): string {
  const at = text.search(ESCAPED_HASH)
  if (at === -1 || text.includes('#')) return text
  const target = text.slice(at).replace(ESCAPED_HASH, '')
  return `${text.slice(0, at)}#${target.replaceAll(/%(?:25)+(?=[0-9a-f]{2})/gi, '%')}`
}
