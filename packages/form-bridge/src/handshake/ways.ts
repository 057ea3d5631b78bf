/** The ways to prove a domain, each with its own diagnosis. */
import { randomHex } from '@strongroom/kit/ids'
import type { SafeFetch, SafeFetchResponse } from '@strongroom/kit/safe-fetch'
import type { ProofMethod } from '../items/registration.ts'
import {
  challengeResponse,
  isSameProof,
  type ProofSubject,
  staticProof,
} from '../signing/domain-proof.ts'
import type { SiteAddress } from '../sites/domain.ts'
import { type Attempt, attempt, failedAttempt, refusedAttempt } from './attempt.ts'
import type { Dns } from './dns.ts'
import { metaContents } from './meta-tags.ts'

export const WELL_KNOWN = '/.well-known/form-bridge-verification.txt'
export const META_NAME = 'form-bridge-verification'
export const DNS_PREFIX = '_form-bridge.'

const MOST_BYTES = 65_536
const MOST_REDIRECTS = 3

export type Way = (address: SiteAddress, subject: ProofSubject) => Promise<Attempt>

export function createWays({
  fetch,
  dns,
}: {
  fetch: SafeFetch
  dns: Dns
}): Record<ProofMethod, Way> {
  async function get(
    method: ProofMethod,
    url: string,
    judge: (answer: SafeFetchResponse) => Attempt,
  ): Promise<Attempt> {
    try {
      const answer = await fetch(url, {
        maxRedirects: MOST_REDIRECTS,
        maxResponseBytes: MOST_BYTES,
        headers: { accept: '*/*', 'cache-control': 'no-cache' },
      })
      return answer.status === 200 ? judge(answer) : refusedAttempt(method, answer)
    } catch (error) {
      return failedAttempt(method, error)
    }
  }

  /** A fresh challenge for each try, so that no cache and nobody who listened can answer it. */
  function byChallenge(method: 'rest' | 'rest_query', base: (home: string) => string): Way {
    return ({ home }, subject) => {
      const challenge = randomHex(16)
      const url = `${base(home)}challenge=${challenge}&registration_id=${subject.registration_id}`
      return get(method, url, ({ body }) => {
        const response = responseIn(textOf(body))
        if (response === undefined) return attempt(method, 'not_json', 200)
        const isRight = isSameProof(response, challengeResponse(subject, challenge))
        return attempt(method, isRight ? 'proved' : 'wrong_answer')
      })
    }
  }

  function judged(method: ProofMethod, published: readonly string[], subject: ProofSubject) {
    const expected = staticProof(subject)
    if (published.some((proof) => isSameProof(proof, expected))) return attempt(method, 'proved')
    return attempt(method, published.length > 0 ? 'wrong_answer' : 'not_published')
  }

  return {
    rest: byChallenge('rest', (home) => `${home}/wp-json/form-bridge/v1/verify?`),
    rest_query: byChallenge('rest_query', (home) => `${home}/?rest_route=/form-bridge/v1/verify&`),
    well_known: ({ home }, subject) =>
      get('well_known', home + WELL_KNOWN, ({ body }) =>
        judged('well_known', proofsAmong(textOf(body).split(/\r?\n/)), subject),
      ),
    meta: ({ home }, subject) =>
      get('meta', `${home}/`, ({ body }) =>
        judged('meta', proofsAmong(metaContents(textOf(body), META_NAME)), subject),
      ),
    async dns({ host }, subject) {
      try {
        return judged('dns', proofsAmong(await dns.txt(DNS_PREFIX + host)), subject)
      } catch {
        return attempt('dns', 'dns')
      }
    },
  }
}

const textOf = (body: Uint8Array) => Buffer.from(body).toString()

function proofsAmong(texts: readonly string[]): string[] {
  return texts.map((text) => text.trim()).filter((text) => /^fb1=[0-9a-f]{64}$/.test(text))
}

function responseIn(text: string): string | undefined {
  try {
    // Some plugins print a byte order mark before everything.
    const answer: unknown = JSON.parse(text.replace(/^\uFEFF/, '').trim())
    if (typeof answer !== 'object' || answer === null || !('response' in answer)) return undefined
    return typeof answer.response === 'string' ? answer.response : undefined
  } catch {
    return undefined
  }
}
