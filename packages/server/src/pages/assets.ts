/** The files that pages need, inside the bundle: nothing is read from disk when the server runs. */
import { createHash } from 'node:crypto'
import favicon from './favicon.svg' with { type: 'text' }
import script from './reference.client.js' with { type: 'text' }
import styles from './styles.css' with { type: 'text' }

export interface Asset {
  path: string
  contentType: string
  body: string
  /** Its content decides its path, so that it may be kept for ever. */
  immutable: boolean
}

export const stylesheet = hashed('strongroom', 'css', 'text/css; charset=utf-8', styles)
export const referenceScript = hashed('reference', 'js', 'text/javascript; charset=utf-8', script)

/** At the one address that browsers and bookmarks know. */
export const faviconFile: Asset = {
  path: '/favicon.svg',
  contentType: 'image/svg+xml',
  body: favicon,
  immutable: false,
}

export const assets: readonly Asset[] = [stylesheet, referenceScript, faviconFile]

function hashed(name: string, extension: string, contentType: string, body: string): Asset {
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
