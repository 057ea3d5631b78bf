// `npm run bench`: starts the benchmark.
import { run } from './bundle.mjs'

// The SDK's notice about newer versions of Node is no figure.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true'
await run(
  'main',
  'worker',
  'server',
  'http/bare-server',
  'http/bare-receiver',
  'http/null-server',
  'ferryhook/relay',
  'sealed/peer',
  'overload/generator',
  'overload/slow-store',
)
