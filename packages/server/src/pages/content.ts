/** Files and pages that are the same for everyone: rendered once, with an ETag, compressed. */
import favicon from './favicon.svg' with { type: 'text' }
import script from './reference.client.js' with { type: 'text' }
import styles from './styles.css' with { type: 'text' }
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { AppEnv } from '@strongroom/kit/http/env'
import { parseUrl } from '@strongroom/kit/parse-url'
import { acceptsGzip } from '@strongroom/platform/accepts-gzip'
import type { Context } from 'hono'
import { html } from 'hono/html'
import type { HtmlEscapedString } from 'hono/utils/html'

export interface Content {
  contentType: string
  body: string
  gzipped: Uint8Array<ArrayBuffer>
  etag: string
}

export function createContent({
  contentType,
  body,
}: Pick<Content, 'contentType' | 'body'>): Content {
  const gzipped = new Uint8Array(gzipSync(body))
  return { contentType, body, gzipped, etag: `"${contentHash(body)}"` }
}

export function send(c: Context<AppEnv>, { contentType, body, gzipped, etag }: Content) {
  const isGzipped = acceptsGzip(c.req.header('accept-encoding'))
  c.header('vary', 'accept-encoding')
  // Weak, because the bytes differ; caches compare it with that of a 304.
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

export interface Asset {
  path: string
  contentType: string
  body: string
  /** Its path has a hash of its content, so it may be cached forever. */
  immutable: boolean
}

export const stylesheet = createHashedAsset('strongroom', 'css', 'text/css; charset=utf-8', styles)
export const referenceScript = createHashedAsset(
  'reference',
  'js',
  'text/javascript; charset=utf-8',
  script,
)

/** At a fixed path that browsers request by themselves. */
export const faviconFile: Asset = {
  path: '/favicon.svg',
  contentType: 'image/svg+xml',
  body: favicon,
  immutable: false,
}

export const assets: readonly Asset[] = [stylesheet, referenceScript, faviconFile]

function createHashedAsset(
  name: string,
  extension: string,
  contentType: string,
  body: string,
): Asset {
  return {
    path: `/assets/${name}-${contentHash(body)}.${extension}`,
    contentType,
    body,
    immutable: true,
  }
}

/** Enough of SHA-256 to tell any two versions of a file apart. */
export function contentHash(body: string): string {
  return createHash('sha256').update(body).digest('hex').slice(0, 16)
}

/** A page as HTML. Without the doctype, browsers use quirks mode. */
export async function renderPage(
  page: HtmlEscapedString | Promise<HtmlEscapedString>,
): Promise<string> {
  const text = await html`<!doctype html>${page}`
  return text.toString()
}

/** The address if a link may lead there: this server, an anchor, or the web; never a script. */
export function safeHref(address: string): string | undefined {
  if (/^#[^\s]*$/.test(address) || /^\/(?![/\\])[^\s\\]*$/.test(address)) return address
  return /^https?:\/\/[^\s]+$/i.test(address) && parseUrl(address) ? address : undefined
}
