/**
 * What a conversion reports while it runs. A file of its own, because the published types of the engine
 * contain it and must not lead to those of LMDB, which do not compile in every project.
 */
export type ConversionProgress =
  /** Another process has the directory open. */
  | { kind: 'waiting'; pid: number }
  | { kind: 'copying'; from: number; to: number; backup: string }
  | { kind: 'converting'; to: number; summary: string; done: number; total: number | undefined }
  | { kind: 'converted'; from: number; to: number; backup: string }
