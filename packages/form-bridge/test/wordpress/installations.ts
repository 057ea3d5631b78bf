/**
 * The WordPress installations that `fetch.sh` has put into WORDPRESS_CACHE, by default
 * strongroom/wordpress in the user's cache directory. With REQUIRE_WORDPRESS=1 (set in CI) it is a
 * failure if there is none.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

export interface Installation {
  version: string
  /** The directory of its files, which all sites share. */
  files: string
}

export const hasPhp = spawnSync('php', ['-v'], { stdio: 'ignore' }).status === 0

const NAMES = ['oldest', 'newest']
/** Each test file installs a site, which takes seconds. */
const runsSlowTests = Boolean(process.env['SLOW'])

export function installations(): Installation[] {
  const found = NAMES.filter((name) => runsSlowTests && hasPhp && existsSync(join(cache(), name)))
  if (found.length === 0 && process.env['REQUIRE_WORDPRESS'] === '1')
    throw new Error('WordPress or PHP is missing: install PHP and run fetch.sh')
  return found.map((name) => {
    const files = join(cache(), name)
    const text = readFileSync(join(files, 'wp-includes/version.php'), 'utf8')
    return { files, version: /\$wp_version = '([^']+)'/.exec(text)?.[1] ?? name }
  })
}

/** Why tests do not run on all versions; undefined if they do. */
export function missing(found: readonly Installation[]): string | undefined {
  if (!runsSlowTests) return 'slow, set SLOW=1 to run it'
  if (!hasPhp) return 'PHP is not installed'
  if (found.length === 0)
    return 'no WordPress found, run packages/form-bridge/test/wordpress/fetch.sh'
  return found.length < NAMES.length ? 'only one WordPress version found' : undefined
}

function cache(): string {
  const caches = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache')
  return process.env['WORDPRESS_CACHE'] ?? join(caches, 'strongroom', 'wordpress')
}
