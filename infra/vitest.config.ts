import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The CDK takes a while to load on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
