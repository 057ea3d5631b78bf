/** From a text to its link: permission, encryption, work, creation. */
import type { Issued } from '../api.ts'
import type { LinkTarget } from '../crypto/link.ts'
import { type Challenge, solveWork } from '../crypto/proof-of-work.ts'
import { sealText, textBytes } from '../crypto/seal.ts'
import type { SealedApi } from './api.ts'
import { RequestFailed } from './errors.ts'
import { patience, type Patience, patiently } from './patience.ts'

export interface NewSecret {
  text: string
  passphrase?: string | undefined
  ttlSeconds: number
  maxViews: number
  receipt?: boolean
}

export interface NewLinks {
  /** For whoever may read it. */
  secret: LinkTarget & { kind: 'secret' }
  /** For whoever made it. */
  management: LinkTarget & { kind: 'management' }
  /** In seconds since the epoch. */
  expiresAt: number
}

export type Solve = (
  challenge: Challenge,
  ciphertext: Uint8Array,
  options: { signal: AbortSignal },
) => Promise<number>

/** As long as the permission is good for, less what the requests take. */
const WORK_MS = 4.5 * 60 * 1000

/** Throws a `SealedError` for what cannot be sealed, a `RequestFailed` for what the server refuses. */
export async function sealSecret(
  api: SealedApi,
  secret: NewSecret,
  options: {
    /** How the work is done: in a page by a worker. */
    solve?: Solve
    /** Stops the work. */
    signal?: AbortSignal
    /** Gives the work up after this. */
    workMs?: number
    patience?: Patience
    /** What was asked for before, if it was. */
    issued?: Issued
  } = {},
): Promise<NewLinks> {
  const { text, passphrase, ttlSeconds, maxViews, receipt = false } = secret
  const { solve = solveWork, signal, workMs = WORK_MS } = options
  // Before any request: nothing is asked of a server for what cannot be sealed.
  textBytes(text)
  const ask = () => {
    // Stopped while the server had asked to wait: nothing more is asked of it.
    signal?.throwIfAborted()
    return api.issueToken()
  }
  const issued = options.issued ?? (await patiently(options.patience ?? patience, ask))
  const { id, token, challenge } = issued
  const { fragment, body, ciphertext } = await sealText({ id, text, passphrase })
  const pow = await inTime({ signal, workMs }, (stopped) =>
    solve(challenge, ciphertext, { signal: stopped }),
  )
  const wanted = { ...body, ttlSeconds, maxViews, ...(receipt && { receipt }), pow }
  const { burnToken, expiresAt } = await api.createSecret(token, wanted)
  return {
    secret: { kind: 'secret', id, fragment },
    management: { kind: 'management', id, burnToken },
    expiresAt,
  }
}

/** By hand, because many browsers do not know `AbortSignal.any`. */
async function inTime<T>(
  { signal, workMs }: { signal: AbortSignal | undefined; workMs: number },
  work: (stopped: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const stop = new AbortController()
  const onStop = () => stop.abort(signal?.reason)
  const timer = setTimeout(() => stop.abort(new RequestFailed('too_hard')), workMs)
  signal?.addEventListener('abort', onStop)
  try {
    return await work(stop.signal)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onStop)
  }
}
