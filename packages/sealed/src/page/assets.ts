/** The files of the page, inside the bundle, so that nothing is read from disk at run time. */
// oxlint-disable import/default -- a bundle is imported as text
import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import script from './browser/main.ts?bundle'
import worker from './browser/worker.ts?bundle'
import icon from './sealed.svg' with { type: 'text' }
import base from './styles/base.css' with { type: 'text' }
import choices from './styles/choices.css' with { type: 'text' }
import controls from './styles/controls.css' with { type: 'text' }
import create from './styles/create.css' with { type: 'text' }
import open from './styles/open.css' with { type: 'text' }
import sealed from './styles/sealed.css' with { type: 'text' }

export interface Asset {
  /** Contains a hash of the content, so that it can be cached forever. */
  name: string
  contentType: string
  body: string | Uint8Array<ArrayBuffer>
  gzipped: Uint8Array<ArrayBuffer>
}

const JAVASCRIPT = 'text/javascript; charset=utf-8'

export const pageScript = createAsset('sealed', 'js', JAVASCRIPT, script)
export const workerScript = createAsset('work', 'js', JAVASCRIPT, worker)
const styles = [base, controls, choices, create, sealed, open].join('\n')

export const styleSheet = createAsset('sealed', 'css', 'text/css; charset=utf-8', styles)
export const iconFile = createAsset('sealed', 'svg', 'image/svg+xml', icon)

export const assets: readonly Asset[] = [pageScript, workerScript, styleSheet, iconFile]

export function createAsset(
  name: string,
  extension: string,
  contentType: string,
  body: Asset['body'],
): Asset {
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 16)
  const gzipped = new Uint8Array(gzipSync(body))
  return { name: `${name}-${hash}.${extension}`, contentType, body, gzipped }
}
