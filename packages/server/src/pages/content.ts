/** What is the same for everybody: made once, not sent again to who has it, compressed for who reads that. */
import { gzipSync } from 'node:zlib'
import { acceptsGzip } from '@strongroom/kit/http/accepts-gzip'
import type { AppEnv } from '@strongroom/kit/http/env'
import type { Context } from 'hono'
import { contentHash } from './assets.ts'

export interface Content {
  contentType: string
  body: string
  gzipped: Uint8Array<ArrayBuffer>
  etag: string
}

export function contentOf({ contentType, body }: Pick<Content, 'contentType' | 'body'>): Content {
  const gzipped = new Uint8Array(gzipSync(body))
  return { contentType, body, gzipped, etag: `"${contentHash(body)}"` }
}

export function send(c: Context<AppEnv>, { contentType, body, gzipped, etag }: Content) {
  const isGzipped = acceptsGzip(c.req.header('accept-encoding'))
  c.header('vary', 'accept-encoding')
  // The same content in other bytes is what a weak tag says; caches compare it with that of a 304.
  c.header('etag', isGzipped ? `W/${etag}` : etag)
  if (isKnown(c, etag)) return c.body(null, 304)
  c.header('content-type', contentType)
  if (!isGzipped) return c.body(body)
  c.header('content-encoding', 'gzip')
  return c.body(gzipped)
}

/** Whether the client has this version, compressed here, by a proxy or not at all. */
function isKnown(c: Context<AppEnv>, etag: string): boolean {
  const tags = (c.req.header('if-none-match') ?? '').split(',')
  return tags.some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}
