/** The methods to prove a domain. Each returns an attempt that says why it failed. */
import { randomHex } from '@strongroom/kit/ids'
import type { SafeFetch, SafeFetchResponse } from '@strongroom/kit/safe-fetch'
import { timingSafeEquals } from '@strongroom/kit/timing-safe-equals'
import type { ProofMethod } from '../registrations/item.ts'
import type { SiteAddress } from '../sites/address.ts'
import { type Attempt, attempt, failedAttempt, statusAttempt } from './attempt.ts'
import type { Dns } from './dns.ts'
import {
  challengeResponse,
  DNS_PREFIX,
  META_NAME,
  type ProofSubject,
  staticProof,
  WELL_KNOWN,
} from './protocol.ts'

const MAX_RESPONSE_BYTES = 65_536
const MAX_REDIRECTS = 3

export type ProofCheck = (address: SiteAddress, subject: ProofSubject) => Promise<Attempt>

export function createProofChecks({
  fetch,
  dns,
}: {
  fetch: SafeFetch
  dns: Dns
}): Record<ProofMethod, ProofCheck> {
  async function get(
    method: ProofMethod,
    url: string,
    check: (response: SafeFetchResponse) => Attempt,
  ): Promise<Attempt> {
    try {
      const response = await fetch(url, {
        maxRedirects: MAX_REDIRECTS,
        maxResponseBytes: MAX_RESPONSE_BYTES,
        headers: { accept: '*/*', 'cache-control': 'no-cache' },
      })
      return response.status === 200 ? check(response) : statusAttempt(method, response)
    } catch (error) {
      return failedAttempt(method, error)
    }
  }

  /** Each attempt has a new challenge, so neither a cache nor an earlier response can answer it. */
  function byChallenge(method: 'rest' | 'rest_query', base: (home: string) => string): ProofCheck {
    return ({ home }, subject) => {
      const challenge = randomHex(16)
      const url = `${base(home)}challenge=${challenge}&registration_id=${subject.registration_id}`
      return get(method, url, ({ body }) => {
        const response = parseChallengeResponse(toText(body))
        if (response === undefined) return attempt(method, 'not_json', 200)
        const isProved = timingSafeEquals(response, challengeResponse(subject, challenge))
        return attempt(method, isProved ? 'proved' : 'wrong_answer')
      })
    }
  }

  function checkPublished(
    method: ProofMethod,
    published: readonly string[],
    subject: ProofSubject,
  ) {
    const proofs = published
      .map((text) => text.trim())
      .filter((text) => /^fb1=[0-9a-f]{64}$/.test(text))
    const expected = staticProof(subject)
    if (proofs.some((proof) => timingSafeEquals(proof, expected))) return attempt(method, 'proved')
    return attempt(method, proofs.length > 0 ? 'wrong_answer' : 'not_published')
  }

  return {
    rest: byChallenge('rest', (home) => `${home}/wp-json/form-bridge/v1/verify?`),
    rest_query: byChallenge('rest_query', (home) => `${home}/?rest_route=/form-bridge/v1/verify&`),
    well_known: ({ home }, subject) =>
      get('well_known', home + WELL_KNOWN, ({ body }) =>
        checkPublished('well_known', toText(body).split(/\r?\n/), subject),
      ),
    meta: ({ home }, subject) =>
      get('meta', `${home}/`, ({ body }) =>
        checkPublished('meta', readMetaTags(toText(body), META_NAME), subject),
      ),
    async dns({ host }, subject) {
      try {
        return checkPublished('dns', await dns.txt(DNS_PREFIX + host), subject)
      } catch {
        return attempt('dns', 'dns')
      }
    },
  }
}

const toText = (body: Uint8Array) => Buffer.from(body).toString()

function parseChallengeResponse(text: string): string | undefined {
  try {
    // Some plugins print a byte order mark first.
    const json: unknown = JSON.parse(text.replace(/^\uFEFF/, '').trim())
    if (typeof json !== 'object' || json === null || !('response' in json)) return undefined
    return typeof json.response === 'string' ? json.response : undefined
  } catch {
    return undefined
  }
}

const TAG_NAME = /<(\/?[a-z][a-z0-9-]*)/iy
const ATTRIBUTE = /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g
const MAX_TAG_LENGTH = 2_000

/** Their content is text up to the closing tag. */
const TEXT_ELEMENTS = new Set(['script', 'style', 'title', 'textarea'])

/**
 * The contents of the meta tags with a name. Only tags in the head count, because visitors can write
 * into the body; and tags inside a title or a script do not count. The time is linear in the length
 * of the page, which may be hostile.
 */
export function readMetaTags(html: string, name: string): string[] {
  const contents: string[] = []
  for (const tag of tagsOf(html)) {
    if (tag.name === 'body' || tag.name === '/head') break
    if (tag.name !== 'meta' || tag.text.length > MAX_TAG_LENGTH) continue
    const attributes = parseAttributes(tag.text)
    if (attributes.get('name') === name) contents.push(attributes.get('content') ?? '')
  }
  return contents
}

/** Stops at the first tag, comment or text element that is not closed, as it hides the rest. */
function* tagsOf(html: string): Generator<{ name: string; text: string }> {
  // toLowerCase would change the length of some letters outside ASCII.
  const lowerCase = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
  const endOf = (text: string, from: number) => {
    const found = lowerCase.indexOf(text, from)
    return found < 0 ? html.length : found + text.length
  }
  let at = html.indexOf('<')
  while (at >= 0) {
    TAG_NAME.lastIndex = at
    const [start = '<', name = ''] = TAG_NAME.exec(lowerCase) ?? []
    if (lowerCase.startsWith('<!--', at)) at = endOf('-->', at)
    else if (name === '') at += start.length
    else {
      const end = endOfTag(html, at + start.length)
      if (end < 0) return
      yield { name, text: html.slice(at + start.length, end) }
      at = TEXT_ELEMENTS.has(name) ? endOf(`</${name}`, end) : end
    }
    at = html.indexOf('<', at)
  }
}

/** The position of the `>` outside quotes; negative if there is none. */
function endOfTag(html: string, from: number): number {
  let quote = ''
  for (let at = from; at < html.length; at++) {
    const char = html.charAt(at)
    if (quote !== '') quote = char === quote ? '' : quote
    else if (char === '"' || char === "'") quote = char
    else if (char === '>') return at
  }
  return -1
}

/** As in a browser, the first attribute of a name counts. */
function parseAttributes(text: string): Map<string, string> {
  const attributes = new Map<string, string>()
  for (const [, name = '', double, single, bare] of text.matchAll(ATTRIBUTE)) {
    const key = name.toLowerCase()
    if (!attributes.has(key)) attributes.set(key, double ?? single ?? bare ?? '')
  }
  return attributes
}
