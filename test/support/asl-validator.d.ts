// The package ships no types; this is the part of it that is used.
declare module 'asl-validator' {
  export default function validate(definition: object): {
    readonly isValid: boolean;
    readonly errorsText: () => string;
  };
}
