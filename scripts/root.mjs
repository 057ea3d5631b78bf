import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The directory of the clone, whatever the working directory is. */
export const root = fileURLToPath(new URL('..', import.meta.url))

/** Whether a module is the entry point of the process, also through a symbolic link. @param {string} url */
export function isMain(url) {
  const [, started] = process.argv
  return started !== undefined && realpathSync(started) === fileURLToPath(url)
}
