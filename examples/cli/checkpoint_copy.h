// The files of a checkpoint folder beside its language model's weights, brought to another folder.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace remora::cli {

// Whether a checkpoint's file of this name holds the language model's weights, or lists such files.
bool holds_lm_weights(std::string_view file_name);

// A folder that is being filled. What was made in it goes again, and the folder too if it was made,
// unless keep() is called: an error leaves nothing behind that looks like a checkpoint. Files that
// were there before are replaced whole, and stay.
class NewFolder {
 public:
  // Creates the folder where needed. Throws Failure when it cannot.
  explicit NewFolder(std::filesystem::path path);
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // To be called before the file `name` is made.
  void will_make(std::string_view name);
  // Every regular file of `from` but hidden ones and the language model's weights; subfolders stay
  // behind. Throws Failure naming the file; kInterrupted when Ctrl-C came.
  void copy_from(const std::filesystem::path& from);
  void keep() { made_.clear(), made_folder_ = false; }

 private:
  std::filesystem::path path_;
  std::vector<std::filesystem::path> made_;
  bool made_folder_ = false;
};

}  // namespace remora::cli
