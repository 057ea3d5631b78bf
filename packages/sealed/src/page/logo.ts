/** Reads the operator's logo once, when the server starts. */
import { readFileSync, statSync } from 'node:fs'
import { invalidConfig } from '@strongroom/kit/config'
import { type Asset, createAsset } from './assets.ts'

const MAX_LOGO_BYTES = 256 * 1024

const PNG_SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** Throws if it is not an SVG or PNG. It is shown as an image only, where an SVG runs no script. */
export function readLogo(path: string): Asset {
  const bytes = readFile(path)
  if (bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) {
    return createAsset('logo', 'png', 'image/png', new Uint8Array(bytes))
  }
  const text = decode(bytes)
  if (text !== undefined && /^<svg[\s>]/.test(withoutProlog(text))) {
    return createAsset('logo', 'svg', 'image/svg+xml', text)
  }
  throw invalidConfig(['SEALED_LOGO is neither an SVG in UTF-8 nor a PNG: choose another file'])
}

function readFile(path: string): Buffer {
  try {
    const file = statSync(path)
    if (!file.isFile()) throw invalidConfig(['SEALED_LOGO is not a file: check its path'])
    if (file.size > MAX_LOGO_BYTES) {
      throw invalidConfig([
        `SEALED_LOGO has ${file.size} bytes: use a file of at most ${MAX_LOGO_BYTES}`,
      ])
    }
    return readFileSync(path)
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error)) throw error
    const { code = '' } = error as NodeJS.ErrnoException
    throw invalidConfig([`SEALED_LOGO cannot be read (${code}): check its path and permissions`])
  }
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Without the XML declaration, comments and document type in front of the root element. */
function withoutProlog(text: string): string {
  let rest = text.trimStart()
  for (;;) {
    const end = rest.startsWith('<!--') ? '-->' : /^<[?!]/.test(rest) ? '>' : undefined
    const at = end === undefined ? -1 : rest.indexOf(end)
    if (end === undefined || at === -1) return rest
    rest = rest.slice(at + end.length).trimStart()
  }
}
