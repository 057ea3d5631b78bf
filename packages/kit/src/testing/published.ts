/**
 * Installs what `npm run pack` wrote, as its users do: into an empty directory outside the repository,
 * with an empty cache of npm.
 */
import { execFile, type ExecFileException } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isStale } from '../../../../scripts/build.mjs'
import { npm } from '../../../../scripts/npm.mjs'

export const root = fileURLToPath(new URL('../../../../', import.meta.url))

/** Packing and installing take minutes, so these tests run in CI and on demand. */
export const packagesRequired = Boolean(process.env['REQUIRE_PACKAGES'])

export const NEWEST_NODE = 26
const MAX_RUN_MS = 120_000

export interface Finished {
  code: number
  stdout: string
  stderr: string
}

export interface Project {
  directory: string
  /** Writes files and runs a program in a new directory of the project. */
  run(args: readonly string[], options?: RunOptions): Promise<Finished>
  remove(): Promise<void>
}

export interface RunOptions {
  node?: string
  files?: Record<string, string>
  env?: Record<string, string>
  stdin?: string
}

/** The tarball of a published package, such as `strongroom` or `@strongroom/engine`. */
export function tarball(name: string): string {
  const directory = join(root, 'dist/npm')
  const start = `${name.replace('@', '').replace('/', '-')}-`
  const found = listFiles(directory).find(
    (file) => file.startsWith(start) && /^\d.*\.tgz$/.test(file.slice(start.length)),
  )
  if (found === undefined || isStale(join(directory, found)))
    throw new Error(`${name} is not packed, or not from these sources: run "npm run pack"`)
  return join(directory, found)
}

function listFiles(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

/** A package in the version that this repository uses. */
export function sameVersion(name: string): string {
  const manifest = readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')
  return `${name}@${(JSON.parse(manifest) as { version: string }).version}`
}

/** `options` are those of `npm install`; a directory name may be hard for programs. */
export async function installProject(
  packages: readonly string[],
  { name = 'app', options = [] }: { name?: string; options?: readonly string[] } = {},
): Promise<Project> {
  const parent = await mkdtemp(join(process.env.LASTING_TMPDIR ?? tmpdir(), 'strongroom-packages-'))
  const directory = join(parent, name)
  await mkdir(directory)
  await writeFile(join(directory, 'package.json'), '{ "private": true }\n')
  const cache = ['--cache', join(parent, 'cache')]
  const quiet = ['--loglevel=error', '--no-audit', '--no-fund']
  await npm(['install', ...cache, ...quiet, ...options, ...packages], { cwd: directory })
  await rm(join(parent, 'cache'), { recursive: true, force: true })
  return {
    directory,
    async run(args, { files = {}, ...how } = {}) {
      const cwd = await mkdtemp(join(directory, 'run-'))
      for (const [file, text] of Object.entries(files)) await writeFile(join(cwd, file), text)
      return runNode(args, { cwd, ...how })
    },
    remove: () => rm(parent, { recursive: true, force: true }),
  }
}

/** Runs Node with the environment of a new user. */
export function runNode(
  args: readonly string[],
  { node = process.execPath, cwd, env = {}, stdin = '' }: RunOptions & { cwd: string },
): Promise<Finished> {
  return new Promise((resolve) => {
    const done = (error: ExecFileException | null, stdout: string, stderr: string) => {
      const code = typeof error?.code === 'number' ? error.code : 1
      resolve({ code: error === null ? 0 : code, stdout, stderr })
    }
    const options = { cwd, env: userEnvironment(node, env), timeout: MAX_RUN_MS }
    const child = execFile(node, [...args], options, done)
    child.stdin?.end(stdin)
  })
}

export function userEnvironment(node: string, env: Record<string, string> = {}) {
  const { PATH = '', HOME = '' } = process.env
  return {
    PATH: `${dirname(node)}${delimiter}${PATH}`,
    HOME,
    TMPDIR: tmpdir(),
    // Otherwise the SDK warns about Node 20.
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    ...env,
  }
}

/** Another Node, from the npm package "node", which contains the binary. */
export async function installNode(version: number): Promise<{ path: string; project: Project }> {
  const project = await installProject([`node@${version}`])
  return { path: join(project.directory, 'node_modules/node/bin/node'), project }
}

export interface Example {
  /** `example` runs as it is, `app` runs until it is stopped, `types` is only compiled. */
  kind: string
  file: string
  text: string
}

/** The marked examples of a package's README. */
export async function readmeExamples(directory: string): Promise<Example[]> {
  const readme = await readFile(join(root, 'packages', directory, 'README.md'), 'utf8')
  const marked = /<!-- (example|app|types): (\S+) -->\n\n```(?:ts|js)\n(.*?)```\n/gs
  const examples = [...readme.matchAll(marked)].map(([, kind = '', file = '', text = '']) => ({
    kind,
    file,
    text,
  }))
  const fences = readme.match(/^```(?:ts|js)$/gm) ?? []
  if (fences.length !== examples.length)
    throw new Error(`packages/${directory}/README.md has an example without a mark`)
  return examples
}

/** What an example prints by its own comments: `console.log(…) // this`. */
export function expectedOutput({ text }: Example): string {
  return [...text.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)]
    .map(([, printed = '']) => `${printed}\n`)
    .join('')
}

/** Compiles files of a project as a strict user does, and returns the errors. */
export async function compile(
  project: Project,
  files: Record<string, string>,
  { types = ['node'] }: { types?: string[] } = {},
): Promise<string> {
  const options = { module: 'nodenext', target: 'es2023', strict: true, noEmit: true }
  const compilerOptions = { ...options, skipLibCheck: false, types }
  const config = JSON.stringify({ compilerOptions, files: Object.keys(files) })
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout, stderr } = await project.run([tsc, '-p', 'tsconfig.json'], {
    files: { ...files, 'tsconfig.json': config },
  })
  return stdout + stderr
}

/** The name of a file as a module of TypeScript. */
export function asTypeScript(file: string): string {
  return basename(file).replace(/\.mjs$/, '.mts')
}
