/** Saves a file through the browser's downloads. */
import type { FileContent } from '../../crypto/content.ts'

/** Some browsers read the data only after the click. */
const REVOKE_AFTER_MS = 60_000

/** Always as unknown bytes, so that no browser renders it with the rights of this page. */
export function saveFile({ name, bytes }: FileContent) {
  const url = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), REVOKE_AFTER_MS)
}
