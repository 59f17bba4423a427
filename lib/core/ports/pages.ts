// The pages port: files that are served as they are.

/** A file, and the media type it is served under. */
export interface PageFile {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Files by name; undefined where there is none of this name. */
export interface Pages {
  file(name: string): Promise<PageFile | undefined>;
}
