/**
 * The file for the bootstrap code of a server without a terminal: outside the data directory, so that
 * a stolen data directory contains nothing that works, and readable by its owner only.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { randomHex } from '@strongroom/kit/ids'
import { Failure } from '@strongroom/kit/errors'
import { createPrivateFile } from '@strongroom/platform/private-file'

export type SavedCode =
  | { kind: 'saved'; file: string; remove: () => Promise<void> }
  /** Why it could not be written. */
  | { kind: 'failed'; reason: string }

interface BootstrapFileOptions {
  /** Where to write it; by default to a private directory for files of running programs. */
  file: string | undefined
  dataDirectory: string
  /** XDG_RUNTIME_DIR, which only its user can read. */
  runtimeDirectory: string | undefined
}

/** Fails before the server starts if the file would be in the data directory. */
export function requireOutside({ file, dataDirectory }: BootstrapFileOptions): void {
  if (file === undefined) return
  const path = relative(resolve(dataDirectory), resolve(file))
  if (path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path)) return
  throw new Failure(
    'failed',
    'STRONGROOM_BOOTSTRAP_FILE must not be in the data directory: choose a file elsewhere',
  )
}

/** A failure does not stop the server: `strongroom operator bootstrap` makes another code. */
export async function saveBootstrapCode(
  code: string,
  options: BootstrapFileOptions,
): Promise<SavedCode> {
  try {
    const { file, remove } = await chooseFile(options)
    await using handle = await createPrivateFile(file)
    await handle.writeFile(`${code}\n`)
    return { kind: 'saved', file, remove: () => remove().catch(() => {}) }
  } catch (error) {
    return { kind: 'failed', reason: codeOf(error) }
  }
}

async function chooseFile({ file, runtimeDirectory }: BootstrapFileOptions) {
  if (file !== undefined) {
    const path = resolve(file)
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    // The code of an earlier start, which is no longer valid.
    await rm(path, { force: true })
    return { file: path, remove: () => rm(path, { force: true }) }
  }
  if (runtimeDirectory !== undefined && isAbsolute(runtimeDirectory)) {
    const directory = join(runtimeDirectory, 'strongroom')
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const path = join(directory, `bootstrap-${randomHex(8)}`)
    return { file: path, remove: () => rm(path, { force: true }) }
  }
  const directory = await mkdtemp(join(tmpdir(), 'strongroom-bootstrap-'))
  const remove = () => rm(directory, { recursive: true, force: true })
  return { file: join(directory, 'code'), remove }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
