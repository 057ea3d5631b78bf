/** The texts of the guides. Loaded when the first one is opened, so a start costs nothing more. */
import architecture from '../../../../../docs/architecture.md' with { type: 'text' }
import commandLine from '../../../../../docs/command-line.md' with { type: 'text' }
import consoleGuide from '../../../../../docs/console.md' with { type: 'text' }
import configuration from '../../../../../docs/configuration.md' with { type: 'text' }
import dataModel from '../../../../../docs/data-model.md' with { type: 'text' }
import dynamodbDifferences from '../../../../../docs/dynamodb-differences.md' with { type: 'text' }
import engine from '../../../../../docs/engine.md' with { type: 'text' }
import errors from '../../../../../docs/errors.md' with { type: 'text' }
import ferryhook from '../../../../../docs/ferryhook.md' with { type: 'text' }
import formBridgeProtocol from '../../../../../docs/form-bridge-protocol.md' with { type: 'text' }
import formBridge from '../../../../../docs/form-bridge.md' with { type: 'text' }
import httpChart from '../../../../../docs/images/performance-http.svg' with { type: 'text' }
import peersChart from '../../../../../docs/images/performance-peers.svg' with { type: 'text' }
import keyStore from '../../../../../docs/key-store.md' with { type: 'text' }
import libraryErrors from '../../../../../docs/library-errors.md' with { type: 'text' }
import operations from '../../../../../docs/operations.md' with { type: 'text' }
import performance from '../../../../../docs/performance.md' with { type: 'text' }
import sealedCryptography from '../../../../../docs/sealed-cryptography.md' with { type: 'text' }
import sealed from '../../../../../docs/sealed.md' with { type: 'text' }
import threatModel from '../../../../../docs/threat-model.md' with { type: 'text' }
import twoKey from '../../../../../docs/two-key.md' with { type: 'text' }
import upgrading from '../../../../../docs/upgrading.md' with { type: 'text' }

export const guideTexts: Readonly<Record<string, string>> = {
  architecture,
  'command-line': commandLine,
  configuration,
  console: consoleGuide,
  'data-model': dataModel,
  'dynamodb-differences': dynamodbDifferences,
  engine,
  errors,
  ferryhook,
  'form-bridge-protocol': formBridgeProtocol,
  'form-bridge': formBridge,
  'key-store': keyStore,
  'library-errors': libraryErrors,
  operations,
  performance,
  'sealed-cryptography': sealedCryptography,
  sealed,
  'threat-model': threatModel,
  'two-key': twoKey,
  upgrading,
}

export const guideImages: Readonly<Record<string, string>> = {
  'performance-http.svg': httpChart,
  'performance-peers.svg': peersChart,
}
